/** Deletes several objects in turn, reports each failure, and fails at the end if there was one. */
import { Args } from "@effect/cli"
import { Console, Effect, Either } from "effect"
import type { Call } from "../api/calls.ts"
import { AlreadyReported, errorBodyOf } from "./failures.ts"
import { jsonOption, printJson, type Remote } from "./remote.ts"
import { visible, visibleJson } from "./terminal.ts"

/** `kind` is `rule` or `webhook`. */
export const deletionOptions = (kind: string) => ({
  ids: Args.text({ name: `${kind}-id` }).pipe(
    Args.withDescription(`One or more ids, as shown by ${kind}s list`),
    Args.atLeast(1)
  ),
  json: jsonOption("Print the deleted ids as JSON, and each failure as JSON on standard error")
})

export const deleteEach = <A, I>(
  remote: Remote,
  options: {
    readonly callOf: (id: string) => Call<A, I>
    readonly ids: ReadonlyArray<string>
    readonly json: boolean
  }
): Effect.Effect<void, AlreadyReported> =>
  Effect.gen(function* () {
    const { callOf, ids, json } = options
    const deleted: Array<string> = []
    for (const id of ids) {
      const outcome = yield* Effect.either(remote.request(callOf(id)))
      if (Either.isLeft(outcome)) {
        yield* Console.error(
          json ? visibleJson(errorBodyOf(outcome.left)) : `earshot: ${visible(outcome.left.message)}`
        )
      } else {
        deleted.push(id)
        if (!json) yield* Console.log(`Deleted ${id}`)
      }
    }
    if (json) yield* printJson({ deleted })
    if (deleted.length < ids.length) return yield* new AlreadyReported()
  })
