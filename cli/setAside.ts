/** `earshot set-aside`: events that came in and could not be stored. */
import { Command, Options } from "@effect/cli"
import { Console, Effect } from "effect"
import { StreamStore } from "../core/coverage/StreamStore.ts"
import { wholeNumberOption } from "./numberOption.ts"
import { jsonOption } from "./remote.ts"
import { visible } from "./terminal.ts"

export interface SetAsideActions<E> {
  /** Gives an effect what the store that the settings name keeps of the streams. */
  readonly withStreams: <A, E2>(effect: Effect.Effect<A, E2, StreamStore>) => Effect.Effect<A, E | E2>
}

export const setAsideCommand = <E>({ withStreams }: SetAsideActions<E>) =>
  Command.make(
    "set-aside",
    {
      limit: wholeNumberOption("limit", { min: 1, max: 10_000 }).pipe(
        Options.withDescription("How many to show, newest first, 1 to 10000 (default: 20)"),
        Options.withDefault(20)
      ),
      json: jsonOption("One JSON object a line, with the event itself")
    },
    ({ limit, json }) =>
      withStreams(
        Effect.gen(function* () {
          const streams = yield* StreamStore
          const all = yield* streams.deadLetters(limit)
          if (all.length === 0) return yield* Console.error("No event was set aside")
          for (const { at, ...event } of all) {
            const time = new Date(at).toISOString()
            const { platform, platformPostId, reason } = event
            yield* Console.log(
              json
                ? JSON.stringify({ at: time, ...event })
                : `${time}  ${platform}  ${visible(platformPostId)}  ${visible(reason)}`
            )
          }
        })
      )
  ).pipe(
    Command.withDescription(
      "Show the events that came in and could not be stored: of the embedded store (EARSHOT_DATA_DIR), while no server runs on it, or of DATABASE_URL"
    )
  )
