/** What the command line asks of its terminal. It never prompts, so nothing is ever read. */
import process from "node:process"
import * as Terminal from "@effect/platform/Terminal"
import { Effect, Layer, Option } from "effect"

export const layer: Layer.Layer<Terminal.Terminal> = Layer.succeed(
  Terminal.Terminal,
  Terminal.Terminal.of({
    columns: Effect.sync(() => widthOf(process.stdout)),
    rows: Effect.sync(() => process.stdout.rows ?? 24),
    isTTY: Effect.sync(() => process.stdout.isTTY === true),
    display: (text) => Effect.sync(() => process.stdout.write(text)),
    readInput: Effect.dieMessage("The command line does not prompt"),
    readLine: Effect.dieMessage("The command line does not prompt")
  })
)

/** Standard error as a place to draw on, if it is one. */
export const screen = Option.liftPredicate(
  {
    columns: Effect.sync(() => widthOf(process.stderr)),
    write: (text: string) => Effect.sync(() => void process.stderr.write(text))
  },
  () => process.stderr.isTTY === true
)

/** How wide standard output is, if it is a terminal. */
export const columns = Option.liftPredicate(
  Effect.sync(() => widthOf(process.stdout)),
  () => process.stdout.isTTY === true
)

// ---- helpers ----

/** A terminal that has not been told its size says that it has 0 columns. */
function widthOf({ columns }: { readonly columns?: number }): number {
  return columns || 80
}
