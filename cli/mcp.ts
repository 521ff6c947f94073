/** `earshot mcp`: the tools for an agent on this machine, on standard input and output. */
import { Command, HelpDoc, Options, Span } from "@effect/cli"
import type { Effect, Option } from "effect"

export interface McpActions<E> {
  /** Runs until standard input ends. An address here goes before the settings. */
  readonly run: (url: Option.Option<string>) => Effect.Effect<void, E>
}

export const mcpCommand = <E>(actions: McpActions<E>) =>
  Command.make(
    "mcp",
    {
      url: Options.text("url").pipe(
        Options.withDescription("Address of a running Earshot to ask, instead of EARSHOT_URL"),
        Options.optional
      )
    },
    ({ url }) => actions.run(url)
  ).pipe(Command.withDescription(help))

// ---- helpers ----

const help = HelpDoc.blocks([
  HelpDoc.p(
    "Give an agent the tools of Earshot over standard input and output (MCP). With one of these settings they work on a running Earshot:"
  ),
  HelpDoc.descriptionList([
    [Span.code("EARSHOT_URL"), HelpDoc.p("Address of the server (default: http://127.0.0.1:8787)")],
    [Span.code("EARSHOT_API_KEY"), HelpDoc.p("A key that the server takes (default: none)")]
  ]),
  HelpDoc.p(
    "With neither, and without --url, the service itself runs in this process, on the store and with the settings of earshot serve, as the account default. It listens on no port, and ends with its input."
  )
])
