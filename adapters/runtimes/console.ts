/** Console output, without colours when it goes to a file or a pipe, or when they are turned off. */
import process from "node:process"
import type { WriteStream } from "node:tty"
import { Console, Effect, Layer } from "effect"

export const layerWith = ({ hasColours }: { readonly hasColours: boolean }): Layer.Layer<never> => {
  // Deno's own console does not report a closed pipe.
  const printTo =
    (stream: WriteStream) =>
    (...args: ReadonlyArray<unknown>) =>
      Effect.sync(() => {
        const text = args.join(" ")
        stream.write(`${hasColours && stream.isTTY ? text : text.replace(colourCodes, "")}\n`)
      })
  return Layer.unwrapEffect(
    Effect.map(Effect.console, (console) =>
      Console.setConsole({ ...console, log: printTo(process.stdout), error: printTo(process.stderr) })
    )
  )
}

// ---- helpers ----

// biome-ignore lint/suspicious/noControlCharactersInRegex: a colour code begins with the escape character
const colourCodes = /\u001b\[[0-9;]*m/g
