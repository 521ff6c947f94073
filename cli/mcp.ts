/** `earshot mcp`: the tools for an agent on this machine, on standard input and output. */
import { Command, HelpDoc } from "@effect/cli"
import type { Effect, Option } from "effect"
import { urlOption } from "./remote.ts"

export interface McpActions<E> {
  /** Runs until standard input ends. An address here goes before the settings. */
  readonly run: (url: Option.Option<string>) => Effect.Effect<void, E>
}

export const mcpCommand = <E>(actions: McpActions<E>) =>
  Command.make(
    "mcp",
    {
      url: urlOption
    },
    ({ url }) => actions.run(url)
  ).pipe(Command.withDescription(help))

// ---- helpers ----

const help = HelpDoc.blocks([
  HelpDoc.p("Give an agent the tools of Earshot over standard input and output (MCP)."),
  HelpDoc.p(
    "With one of these settings, or --url, they work on a running Earshot. Without, the service itself runs in this process, on the store and with the settings of earshot serve, as the account default. It listens on no port, and ends with its input."
  )
])
