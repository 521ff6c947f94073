/** `earshot set-aside`: events that came in and could not be stored. */
import { Command, Options } from "@effect/cli"
import { Console, Effect, Schema } from "effect"
import { StreamStore } from "../core/StreamStore.ts"

export interface SetAsideActions<E> {
  /** Gives an effect what the store that the settings name keeps of the streams. */
  readonly withStreams: <A, E2>(effect: Effect.Effect<A, E2, StreamStore>) => Effect.Effect<A, E | E2>
}

const Limit = Schema.Number.pipe(
  Schema.filter((limit) => limit >= 1 && limit <= 10_000, {
    message: () => "Expected --limit to be a whole number from 1 to 10000"
  })
)

export const setAsideCommand = <E>({ withStreams }: SetAsideActions<E>) =>
  Command.make(
    "set-aside",
    {
      limit: Options.integer("limit").pipe(
        Options.withSchema(Limit),
        Options.withDescription("How many to show, newest first"),
        Options.withDefault(20)
      ),
      json: Options.boolean("json").pipe(Options.withDescription("One JSON object a line, with the event itself"))
    },
    ({ limit, json }) =>
      withStreams(
        Effect.gen(function* () {
          const streams = yield* StreamStore
          const all = yield* streams.asides(limit)
          if (all.length === 0) return yield* Console.error("No event was set aside")
          for (const { at, ...event } of all) {
            const time = new Date(at).toISOString()
            const { platform, platformPostId, reason } = event
            yield* Console.log(
              json ? JSON.stringify({ at: time, ...event }) : `${time}  ${platform}  ${platformPostId}  ${reason}`
            )
          }
        })
      )
  ).pipe(
    Command.withDescription(
      "Show the events that came in and could not be stored, from the store of this machine or DATABASE_URL"
    )
  )
