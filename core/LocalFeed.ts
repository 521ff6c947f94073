/** The port to the local event feed: events that callers hand in, for platforms that run in process. */
import { Context, type Effect } from "effect"
import type { InvalidArgument, StorageUnavailable } from "./Errors.ts"
import type { PlatformId } from "./PlatformId.ts"

export interface PublishReport {
  /** How many events were taken in, per platform. */
  readonly accepted: Partial<Record<PlatformId, number>>
}

export class LocalFeed extends Context.Tag("core/LocalFeed")<
  LocalFeed,
  {
    /**
     * Takes in events, all or none, each in the form in which its platform streams it. Returns when every match they
     * gave is durable.
     */
    readonly publish: (
      events: ReadonlyArray<unknown>
    ) => Effect.Effect<PublishReport, InvalidArgument | StorageUnavailable>
  }
>() {}
