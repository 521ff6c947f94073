/** Effects that have to wait for the end of a transaction. */
import { Context, Effect, Option } from "effect"

/** None outside of a transaction that a use case runs in. */
export class CommitHooks extends Context.Reference<CommitHooks>()("core/CommitHooks", {
  defaultValue: (): Option.Option<Array<Effect.Effect<unknown>>> => Option.none()
}) {}

/** Runs the effect when others can see what was written: now, or after the current transaction. */
export const afterCommit = (effect: Effect.Effect<unknown>): Effect.Effect<void> =>
  Effect.flatMap(
    CommitHooks,
    Option.match({
      onNone: () => Effect.asVoid(effect),
      onSome: (hooks) => Effect.sync(() => void hooks.push(effect))
    })
  )
