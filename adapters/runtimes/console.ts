/** What is printed, without colours where they do not belong: in a file or a pipe, or where nobody wants them. */
import process from "node:process"
import type { WriteStream } from "node:tty"
import { Console, Effect, Layer } from "effect"

export const layerWith = ({ hasColours }: { readonly hasColours: boolean }): Layer.Layer<never> => {
  // Not by the runtime's console: on Deno nobody would learn that what it prints is no longer read.
  const on =
    (stream: WriteStream) =>
    (...args: ReadonlyArray<unknown>) =>
      Effect.sync(() => {
        const text = args.join(" ")
        stream.write(`${hasColours && stream.isTTY ? text : text.replace(COLOURS, "")}\n`)
      })
  return Layer.unwrapEffect(
    Effect.map(Effect.console, (usual) =>
      Console.setConsole({ ...usual, log: on(process.stdout), error: on(process.stderr) })
    )
  )
}

// ---- helpers ----

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what a colour begins with
const COLOURS = /\u001b\[[0-9;]*m/g
