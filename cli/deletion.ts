/** Deleting several things, one after the other: each that fails is told, and the exit code says if one did. */
import { Args } from "@effect/cli"
import { Console, Effect, Either, Schema } from "effect"
import { AlreadyTold, errorBodyOf } from "./failures.ts"
import { jsonOption, post, type Remote } from "./remote.ts"

/** `what`: `rule`, `webhook`. */
export const deletionOptions = (what: string) => ({
  ids: Args.text({ name: `${what}-id` }).pipe(
    Args.withDescription(`As ${what}s list shows it; several are deleted one after the other`),
    Args.atLeast(1)
  ),
  json: jsonOption("Print the ids that were deleted as JSON, and each failure as JSON on standard error")
})

export const deleteEach = (
  remote: Remote,
  options: {
    readonly path: string
    /** The name of the id in the request. */
    readonly field: string
    readonly ids: ReadonlyArray<string>
    readonly json: boolean
  }
): Effect.Effect<void, AlreadyTold> =>
  Effect.gen(function* () {
    const { path, field, ids, json } = options
    const deleted: Array<string> = []
    for (const id of ids) {
      const outcome = yield* Effect.either(remote.request(post(path, { [field]: id }, Schema.Unknown)))
      if (Either.isLeft(outcome)) {
        yield* Console.error(json ? JSON.stringify(errorBodyOf(outcome.left)) : `earshot: ${outcome.left.message}`)
      } else {
        deleted.push(id)
        if (!json) yield* Console.log(`Deleted ${id}`)
      }
    }
    if (json) yield* Console.log(JSON.stringify({ deleted }, undefined, 2))
    if (deleted.length < ids.length) return yield* new AlreadyTold()
  })
