/** Storage port: the servers on one store, and which of them owns what. */
import { Context, Effect, type Option, Schema } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import { optional } from "../model/optional.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { Timestamp } from "../model/Timestamp.ts"
import { StreamState } from "../platforms/Platform.ts"

/** A server that is alive. */
export const Server = Schema.Struct({
  /** The host and the id of the process. */
  name: Schema.String,
  version: Schema.String,
  started_at: Timestamp,
  owns: Schema.Array(Schema.String)
})
export type Server = typeof Server.Type

/** The last owner of some work. Each one has a higher epoch than the one before. */
export interface Owner {
  readonly work: string
  readonly server: string
  readonly epoch: number
  readonly since: Timestamp
  /** False if the server has stopped, and no other has taken over yet. */
  readonly isAlive: boolean
}

/** What the owner of a stream says of it, for the other servers. */
export const StreamReport = Schema.Struct({
  /** The account's plan on the platform. */
  plan: optional(Schema.String),
  stream: Schema.Struct({
    state: StreamState,
    detail: Schema.String,
    since: Schema.Number,
    lastEventAt: Schema.OptionFromNullOr(Schema.Number),
    lastError: Schema.OptionFromNullOr(Schema.Struct({ at: Schema.Number, message: Schema.String }))
  }),
  sync: Schema.Struct({
    comparison: Schema.OptionFromNullOr(
      Schema.Struct({
        at: Timestamp,
        missing: Schema.Number,
        missingSince: Schema.OptionFromNullOr(Timestamp),
        orphaned: Schema.Number,
        foreign: Schema.Number,
        newer: Schema.optionalWith(Schema.Number, { default: () => 0 }),
        ruleLimit: Schema.OptionFromNullOr(Schema.Number),
        usage: Schema.OptionFromNullOr(
          Schema.Struct({
            at: Schema.Number,
            used: Schema.Number,
            limit: Schema.Number,
            month: optional(Schema.Struct({ start: Schema.Number, used: Schema.Number }))
          })
        )
      })
    ),
    error: Schema.OptionFromNullOr(Schema.Struct({ at: Timestamp, message: Schema.String, isRefused: Schema.Boolean }))
  })
})
export type StreamReport = typeof StreamReport.Type

export interface ServersService {
  /** Empty for a store that only one server can use. */
  readonly list: Effect.Effect<ReadonlyArray<Server>, StoreUnavailable>
  readonly ownerOf: (work: string) => Effect.Effect<Option.Option<Owner>, StoreUnavailable>
  readonly report: (platform: PlatformId, report: StreamReport) => Effect.Effect<void, StoreUnavailable>
  readonly reportOn: (platform: PlatformId) => Effect.Effect<Option.Option<StreamReport>, StoreUnavailable>
}

/** By default there is a single server. */
export class Servers extends Context.Reference<Servers>()("core/Servers", {
  defaultValue: (): ServersService => ({
    list: Effect.succeed([]),
    ownerOf: () => Effect.succeedNone,
    report: () => Effect.void,
    reportOn: () => Effect.succeedNone
  })
}) {}
