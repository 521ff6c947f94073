/** `earshot simulate`: both platforms' own protocols on this machine, faults included. */
import { Command, HelpDoc, Options, Span } from "@effect/cli"
import { Array as Arr, type Effect } from "effect"
import { numberOption, wholeNumberOption } from "./numberOption.ts"

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
      port: wholeNumberOption("port", { min: 0, max: 65_535 }).pipe(
        Options.withDescription("Port to listen on; 0 takes any free one (default: 9797)"),
        Options.withDefault(9797)
      ),
      seed: wholeNumberOption("seed", { min: 0, max: 2 ** 32 - 1 }).pipe(
        Options.withDescription("The same seed makes the same events (default: 1)"),
        Options.withDefault(1)
      ),
      rate: numberOption("rate", { min: 0, max: 10_000 }).pipe(
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
