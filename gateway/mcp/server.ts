/** The tool server itself: the tools, as the protocol wants them. */
import { type CallToolResult, McpServer, type StandardSchemaWithJSON } from "@modelcontextprotocol/server"
import { Effect, Runtime } from "effect"
import { internal } from "../errors.ts"
import type { Call, Refusal } from "./calls.ts"
import type { JsonSchema } from "./schemas.ts"
import type { Tool, Toolbox } from "./tools.ts"
import { shown } from "./untrusted.ts"
import { refusalInWords } from "./words.ts"

export interface ServerOptions<R> {
  readonly version: string
  readonly toolbox: Toolbox
  readonly call: Call<R>
  readonly runtime: Runtime.Runtime<R>
  /** Words that nobody can guess, a new one each time. */
  readonly newSecret: () => string
}

/** For one request over HTTP, or for one connection over standard input and output. */
export const toolServer = <R>({ version, toolbox, call, runtime, newSecret }: ServerOptions<R>): McpServer => {
  const server = new McpServer(
    { name: "earshot", title: "Earshot", version },
    { instructions: toolbox.instructions, capabilities: { tools: { listChanged: false } } }
  )
  for (const tool of toolbox.tools) {
    const { name, title, description, annotations, input, output } = tool
    server.registerTool(
      name,
      { title, description, annotations, inputSchema: carrying(input), outputSchema: carrying(output) },
      (args, { mcpReq }) =>
        Runtime.runPromise(runtime)(resultOf(tool, call, { args, secret: newSecret() }), { signal: mcpReq.signal })
    )
  }
  return server
}

// ---- helpers ----

/** Documents and lets everything through: the operation itself says what is wrong, in the words of every other door. */
const carrying = (schema: JsonSchema): StandardSchemaWithJSON => ({
  "~standard": {
    version: 1,
    vendor: "earshot",
    validate: (value) => ({ value }),
    jsonSchema: { input: () => schema, output: () => schema }
  }
})

const resultOf = <R>(
  tool: Tool,
  call: Call<R>,
  { args, secret }: { readonly args: unknown; readonly secret: string }
): Effect.Effect<CallToolResult, never, R> =>
  tool.run(call, args, secret).pipe(
    Effect.map(({ structured, text }) => ({
      content: [{ type: "text" as const, text }],
      structuredContent: structured
    })),
    Effect.catchAll((refusal) => Effect.succeed(refused(refusal))),
    Effect.catchAllDefect((defect) =>
      Effect.as(Effect.logError(`The tool ${tool.name} failed`, defect), refused(internal))
    )
  )

/** Not as structured content: that has to be as the tool's schema says, and clients check it even of an error. */
const refused = (refusal: Refusal): CallToolResult => {
  const { code, message, details } = refusal
  return {
    isError: true,
    content: [
      { type: "text", text: refusalInWords(refusal) },
      { type: "text", text: shown({ code, message, details }, MOST_OF_AN_ERROR) }
    ]
  }
}

/** In characters. */
const MOST_OF_AN_ERROR = 20_000
