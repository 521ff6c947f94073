/** `delete` of rules or webhooks: deletes them in turn, reports each failure, and fails at the end if there was one. */
import { Args, Command, Options } from "@effect/cli"
import { Console, Effect, Either } from "effect"
import type { RemoteFailure } from "../api/calls.ts"
import { AlreadyReported, errorBodyOf } from "./failures.ts"
import { type IdContract, idCall, type Kind } from "./idCommand.ts"
import { jsonOption, printJson, type Remote, type TargetActions, targetHelp, targetOptions } from "./remote.ts"
import { visible, visibleJson } from "./terminal.ts"

interface Deletion<K extends Kind, A, O, OI> {
  readonly kind: K
  readonly about: string
  readonly contract: IdContract<K, A, O, OI>
  /** Prints what would be deleted. */
  readonly preview?: (
    remote: Remote,
    shown: { readonly ids: ReadonlyArray<string>; readonly json: boolean }
  ) => Effect.Effect<void, RemoteFailure>
}

export const deleteCommand = <E, K extends Kind, A, O, OI>(
  { connectTo }: TargetActions<E>,
  { kind, about, contract, preview }: Deletion<K, A, O, OI>
) =>
  Command.make(
    "delete",
    {
      ids: Args.text({ name: `${kind}-id` }).pipe(
        Args.withDescription(`One or more ids, as shown by ${kind}s list`),
        Args.atLeast(1)
      ),
      ...(preview !== undefined && { preview: previewOption }),
      json: jsonOption("Print the deleted ids as JSON, and each failure as JSON on standard error"),
      ...targetOptions
    },
    ({ ids, json, preview: isPreview = false, ...target }) =>
      Effect.gen(function* () {
        const remote = yield* connectTo(target)
        if (isPreview && preview !== undefined) return yield* preview(remote, { ids, json })
        const deleted: Array<string> = []
        for (const id of ids) {
          const outcome = yield* Effect.either(remote.request(idCall(kind, contract, id)))
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
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp(`${about}, without confirmation. The exit code is 1 if one of them could not be deleted.`)
    )
  )

// ---- helpers ----

const previewOption = Options.boolean("preview").pipe(
  Options.withDescription("Delete nothing, and print what would be deleted")
)
