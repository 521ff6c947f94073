/** `earshot mcp`: MCP tools for a local agent, on standard input and output. */
import { Command, HelpDoc } from "@effect/cli"
import type { Effect, Option } from "effect"
import { urlOption } from "./remote.ts"

export interface McpActions<E> {
  /** Runs until standard input ends. `url` overrides the setting. */
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
    "With --url or one of these settings, the tools use a running server. Without them they use the server that uses EARSHOT_DATA_DIR, if there is one. Otherwise the service runs in this process, with the store and settings of earshot serve and the account default, without a port, until standard input ends."
  )
])
