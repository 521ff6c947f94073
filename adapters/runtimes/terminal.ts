/** The terminal of the command line. It never prompts, so it reads no input. */
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

/** Standard error, if it is a terminal: for progress bars. */
export const screen = Option.liftPredicate(
  {
    columns: Effect.sync(() => widthOf(process.stderr)),
    write: (text: string) => Effect.sync(() => void process.stderr.write(text))
  },
  () => process.stderr.isTTY === true
)

/** Width of standard output, if it is a terminal. */
export const columns = Option.liftPredicate(
  Effect.sync(() => widthOf(process.stdout)),
  () => process.stdout.isTTY === true
)

// ---- helpers ----

/** A terminal of unknown size reports 0 columns. */
function widthOf({ columns }: { readonly columns?: number }): number {
  return columns || 80
}
