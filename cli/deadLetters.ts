/** `earshot dead-letters`: lists events that could not be stored. */
import { Command, Options } from "@effect/cli"
import { Console, Effect } from "effect"
import { DeadLetters } from "../core/ingest/DeadLetters.ts"
import { wholeNumberOption } from "./numberOption.ts"
import { jsonOption } from "./remote.ts"
import { visible, visibleJson } from "./terminal.ts"

export interface DeadLettersActions<E> {
  /** Runs an effect with the dead letters of the configured store. */
  readonly withDeadLetters: <A, E2>(effect: Effect.Effect<A, E2, DeadLetters>) => Effect.Effect<A, E | E2>
}

export const deadLettersCommand = <E>({ withDeadLetters }: DeadLettersActions<E>) =>
  Command.make(
    "dead-letters",
    {
      limit: wholeNumberOption("limit", { min: 1, max: 10_000 }).pipe(
        Options.withDescription("Maximum number to list, newest first, 1 to 10000 (default: 20)"),
        Options.withDefault(20)
      ),
      json: jsonOption("Print one JSON object per line, including the event")
    },
    ({ limit, json }) =>
      withDeadLetters(
        Effect.gen(function* () {
          const deadLetters = yield* DeadLetters
          const all = yield* deadLetters.list(limit)
          if (all.length === 0) return yield* Console.error("No dead letters")
          for (const { at, ...event } of all) {
            const time = new Date(at).toISOString()
            const { platform, platformPostId, reason } = event
            yield* Console.log(
              json
                ? visibleJson({ at: time, ...event })
                : `${time}  ${platform}  ${visible(platformPostId)}  ${visible(reason)}`
            )
          }
        })
      )
  ).pipe(
    Command.withDescription(
      "List events that could not be stored. Reads the embedded store (EARSHOT_DATA_DIR), even while a server is using it, or DATABASE_URL"
    )
  )
