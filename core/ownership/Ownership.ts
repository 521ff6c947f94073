/** Which process owns what, of all processes on one store: work that only one server at a time may do. */
import { Context, Deferred, Effect, FiberId, Option, type Scope } from "effect"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Platform } from "../platforms/Platform.ts"
import type { RuleRequests } from "./RuleRequests.ts"

/** The right of an owner to write. The store refuses writes of an owner that was replaced. */
export interface Fence {
  readonly name: string
  readonly epoch: number
  /** For the store: another server is the owner now. Stops the work, and interrupts the caller. */
  readonly lost: Effect.Effect<never>
}

/** The fence of the running work. None outside of owned work, and with a single server. */
export class CurrentFence extends Context.Reference<CurrentFence>()("core/CurrentFence", {
  defaultValue: (): Option.Option<Fence> => Option.none()
}) {}

export interface OwnershipService {
  /** No other process can use the store. What does not run here was then abandoned. */
  readonly isAlone: boolean
  /** Runs the work whenever this server is its owner, in the background. The work never ends by itself. */
  readonly own: <R>(name: string, work: Effect.Effect<void, never, R>) => Effect.Effect<void, never, R | Scope.Scope>
  /** Runs the effect if this server is the owner now, fenced like the work itself. */
  readonly ifOwner: <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<Option.Option<A>, E, R>
  /** Fails when a newer version has changed the store: this server owns nothing from then on, and has to end. */
  readonly outdated: Deferred.Deferred<never, Error>
  /** How the owner of a remote platform is asked. A process that is alone asks nothing. */
  readonly requests: RuleRequests
}

/** By default this process is alone and owns everything. */
export class Ownership extends Context.Reference<Ownership>()("core/Ownership", {
  defaultValue: (): OwnershipService => ({
    isAlone: true,
    own: (_, work) => Effect.asVoid(Effect.forkScoped(work)),
    ifOwner: (_, effect) => Effect.asSome(effect),
    outdated: Deferred.unsafeMake(FiberId.none),
    requests: {
      announce: Effect.void,
      nextAnnouncement: Effect.succeed(Effect.never),
      unsettled: () => Effect.succeed([]),
      settle: () => Effect.void,
      outcome: () => Effect.succeedNone,
      abandon: () => Effect.void,
      drop: () => Effect.void,
      activatedSince: () => Effect.succeed([])
    }
  })
}) {}

/** The stream of a remote platform, with its rules there. */
export const streamOf = (platform: PlatformId): string => `stream/${platform}`

/** Whether this process talks to the platform itself. If not, its owner does. */
export const isServedHere = ({ isAlone }: OwnershipService, { capabilities }: Platform): boolean =>
  isAlone || !capabilities.isRemote
