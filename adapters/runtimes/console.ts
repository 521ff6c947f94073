/** Standard output without colours, for when it is not a terminal. */
import process from "node:process"
import { Console, Effect, Layer } from "effect"

/** Leaves a terminal alone. */
export const layer: Layer.Layer<never> = Layer.unwrapEffect(
  Effect.gen(function* () {
    if (process.stdout.isTTY === true) return Layer.empty
    const usual = yield* Effect.console
    const plain =
      (print: (...args: ReadonlyArray<unknown>) => Effect.Effect<void>) =>
      (...args: ReadonlyArray<unknown>) =>
        print(...args.map((arg) => (typeof arg === "string" ? arg.replace(COLOURS, "") : arg)))
    return Console.setConsole({ ...usual, log: plain(usual.log), error: plain(usual.error) })
  })
)

// ---- helpers ----

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what a colour begins with
const COLOURS = /\u001b\[[0-9;]*m/g
