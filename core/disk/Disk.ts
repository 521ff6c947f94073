/** The disk of the store: whether it can be written, and how much room is left on it. */
import { Context, Effect, Option } from "effect"
import type { DiskProblem } from "../model/Errors.ts"

/** In bytes. */
export interface Space {
  readonly total: number
  /** What the store can still use. */
  readonly free: number
  /** With less than this free, the accounts that store the most may not send events. */
  readonly floor: number
}

/** By default nothing is known of the disk. */
export class Disk extends Context.Reference<Disk>()("core/Disk", {
  defaultValue: (): {
    /** None for a disk of another machine. */
    readonly space: Effect.Effect<Option.Option<Space>>
    /** Why the store cannot be written now. */
    readonly problem: Effect.Effect<Option.Option<DiskProblem>>
    /** Remembers for some seconds that a write has failed for this reason. */
    readonly noteFailure: (problem: DiskProblem) => Effect.Effect<void>
    /** For the operator only. */
    readonly location: Option.Option<string>
  } => ({
    space: Effect.succeedNone,
    problem: Effect.succeedNone,
    noteFailure: () => Effect.void,
    location: Option.none()
  })
}) {}
