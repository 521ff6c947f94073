/** `earshot simulate`: serves the protocols of both platforms locally, with faults on request. */
import { Command, HelpDoc, Options, Span } from "@effect/cli"
import { Array as Arr, type Effect } from "effect"
import { numberOption, wholeNumberOption } from "./numberOption.ts"

export interface SimulateOptions {
  readonly port: number
  readonly seed: number
  readonly rate: number
  readonly tier: (typeof TIERS)[number]
  readonly bluesky: boolean
  readonly wikimedia: boolean
  readonly feeds: boolean
}

export interface SimulateActions<E> {
  /** Runs the simulator until it is stopped. */
  readonly run: (options: SimulateOptions) => Effect.Effect<void, E>
  /** The settings of a running simulator, for the help. */
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
        Options.withDescription("Port to listen on; 0 picks a free port (default: 9797)"),
        Options.withDefault(9797)
      ),
      seed: wholeNumberOption("seed", { min: 0, max: 2 ** 32 - 1 }).pipe(
        Options.withDescription("Seed of the made-up events; the same seed gives the same events (default: 1)"),
        Options.withDefault(1)
      ),
      rate: numberOption("rate", { min: 0, max: 10_000 }).pipe(
        Options.withDescription("Made-up posts per second, and the same number of pages; 0 for none (default: 1)"),
        Options.withDefault(1)
      ),
      tier: Options.choice("tier", TIERS).pipe(
        Options.withDescription("Plan of the X app, which determines access, caps and backfill (default: pay-per-use)"),
        Options.withDefault("pay-per-use" as const)
      ),
      bluesky: Options.boolean("bluesky").pipe(
        Options.withDescription("Also make up posts on Bluesky, at the same rate")
      ),
      wikimedia: Options.boolean("wikimedia").pipe(
        Options.withDescription("Also make up changes on Wikimedia, and print how to watch them")
      ),
      feeds: Options.boolean("feeds").pipe(
        Options.withDescription("Also make up items of feeds, one for every 60 posts, and print how to watch them")
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
    HelpDoc.p("Simulate X's filtered stream and Firehose over HTTP, to test Earshot or any other client."),
    HelpDoc.p(
      "Events are made up, or sent with POST /control/events. POST /control/faults injects faults. PATCH /control/settings changes behaviour that the platforms' documentation leaves open."
    ),
    ...(Arr.isNonEmptyArray(lines) ? [HelpDoc.descriptionList(lines)] : [])
  ])
}
