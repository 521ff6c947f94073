/** `earshot simulate`: both platforms' own protocols on this machine, faults included. */
import { Command, HelpDoc, Options, Span } from "@effect/cli"
import { Array as Arr, type Effect, Schema } from "effect"

export interface SimulateOptions {
  readonly port: number
  readonly seed: number
  readonly rate: number
  readonly tier: (typeof TIERS)[number]
}

export interface SimulateActions<E> {
  /** Plays the platforms until it is told to stop. */
  readonly run: (options: SimulateOptions) => Effect.Effect<void, E>
  /** What can be set while it runs, for the help. */
  readonly settings: ReadonlyArray<{
    readonly name: string
    readonly takes: string
    readonly fallback: unknown
    readonly about: string
  }>
}

export const simulateCommand = <E>(actions: SimulateActions<E>) =>
  Command.make(
    "simulate",
    {
      port: Options.integer("port").pipe(
        Options.withSchema(wholeNumber("--port", 0, 65_535)),
        Options.withPseudoName("number"),
        Options.withDescription("Port to listen on; 0 takes any free one (default: 9797)"),
        Options.withDefault(9797)
      ),
      seed: Options.integer("seed").pipe(
        Options.withSchema(wholeNumber("--seed", 0, 2 ** 32 - 1)),
        Options.withPseudoName("number"),
        Options.withDescription("The same seed makes the same events (default: 1)"),
        Options.withDefault(1)
      ),
      rate: Options.float("rate").pipe(
        Options.withSchema(Rate),
        Options.withPseudoName("number"),
        Options.withDescription("Made-up posts, and as many pages, per second; 0 for none (default: 1)"),
        Options.withDefault(1)
      ),
      tier: Options.choice("tier", TIERS).pipe(
        Options.withDescription(
          "Plan that X's app is on: it decides on access, caps and backfill (default: pay-per-use)"
        ),
        Options.withDefault("pay-per-use" as const)
      )
    },
    actions.run
  ).pipe(Command.withDescription(help(actions)))

// ---- helpers ----

const TIERS = ["free", "basic", "pro", "pay-per-use", "enterprise"] as const

function wholeNumber(name: string, min: number, max: number) {
  return Schema.Number.pipe(
    Schema.filter((value) => value >= min && value <= max, {
      message: () => `Expected ${name} to be a whole number from ${min} to ${max}`
    })
  )
}

const Rate = Schema.Number.pipe(
  Schema.filter((rate) => rate >= 0 && rate <= 10_000, {
    message: () => "Expected --rate to be a number from 0 to 10000"
  })
)

function help<E>({ settings }: SimulateActions<E>): HelpDoc.HelpDoc {
  const lines = settings.map(
    ({ name, takes, fallback, about }) =>
      [Span.code(name), HelpDoc.p(`${about} (${takes}; default: ${JSON.stringify(fallback)})`)] as [
        Span.Span,
        HelpDoc.HelpDoc
      ]
  )
  return HelpDoc.blocks([
    HelpDoc.p("Play X's filtered stream and Firehose over HTTP, for tests of Earshot or any other client."),
    HelpDoc.p(
      "Events are made up, or handed in with POST /control/events; faults are injected with POST /control/faults. What the platforms leave open can be set with PATCH /control/settings."
    ),
    ...(Arr.isNonEmptyArray(lines) ? [HelpDoc.descriptionList(lines)] : [])
  ])
}
