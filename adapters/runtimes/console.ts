/** What is printed, without colours where they do not belong: in a file or a pipe, or where nobody wants them. */
import process from "node:process"
import { Console, Effect, Layer } from "effect"

export const layerWith = ({ hasColours }: { readonly hasColours: boolean }): Layer.Layer<never> =>
  Layer.unwrapEffect(
    Effect.map(Effect.console, (usual) => {
      const on =
        (isTerminal: boolean, print: (...args: ReadonlyArray<unknown>) => Effect.Effect<void>) =>
        (...args: ReadonlyArray<unknown>) =>
          print(
            ...args.map((arg) =>
              typeof arg === "string" && !(hasColours && isTerminal) ? arg.replace(COLOURS, "") : arg
            )
          )
      return Console.setConsole({
        ...usual,
        log: on(process.stdout.isTTY === true, usual.log),
        error: on(process.stderr.isTTY === true, usual.error)
      })
    })
  )

// ---- helpers ----

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what a colour begins with
const COLOURS = /\u001b\[[0-9;]*m/g
