/** Registers the tools on an MCP server. */
import { type CallToolResult, McpServer, type StandardSchemaWithJSON } from "@modelcontextprotocol/server"
import { Effect, Runtime } from "effect"
import { internal } from "../errors.ts"
import type { Call, CallError } from "./calls.ts"
import { describeError } from "./describe.ts"
import type { JsonSchema } from "./schemas.ts"
import type { Tool, Toolbox } from "./tools.ts"
import { Treatment } from "./untrusted.ts"

export interface ServerOptions<R> {
  readonly version: string
  readonly toolbox: Toolbox
  readonly call: Call<R>
  readonly runtime: Runtime.Runtime<R>
  /** Returns a new unguessable word on each call. */
  readonly newSecret: () => string
}

/** Serves one HTTP request or one stdio connection. */
export const toolServer = <R>({ version, toolbox, call, runtime, newSecret }: ServerOptions<R>): McpServer => {
  const server = new McpServer(
    { name: "earshot", title: "Earshot", version },
    { instructions: toolbox.instructions, capabilities: { tools: { listChanged: false } } }
  )
  for (const tool of toolbox.tools) {
    const { name, title, description, annotations, input, output } = tool
    server.registerTool(
      name,
      { title, description, annotations, inputSchema: withoutCheck(input), outputSchema: withoutCheck(output) },
      (args, { mcpReq }) =>
        Runtime.runPromise(runtime)(resultOf(tool, call, { args, secret: newSecret() }), { signal: mcpReq.signal })
    )
  }
  return server
}

// ---- helpers ----

/** Documentation only: the operation validates the arguments, with the same messages as in the other interfaces. */
const withoutCheck = (schema: JsonSchema): StandardSchemaWithJSON => ({
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
    Effect.catchAll((error) => Effect.succeed(errorResult(error, { args, secret }))),
    Effect.catchAllDefect((defect) =>
      Effect.as(Effect.logError(`The tool ${tool.name} failed`, defect), errorResult(internal, { args, secret }))
    )
  )

/** Without structured content, which clients check against the tool's output schema even for an error. */
const errorResult = (
  error: CallError,
  { args, secret }: { readonly args: unknown; readonly secret: string }
): CallToolResult => {
  const { code, message, details } = error
  const [described, json] = [new Treatment(secret), new Treatment(secret)]
  const description = describeError(error, described, args)
  const body = {
    code,
    message: json.text(message, MAX_ERROR_CHARACTERS),
    details: json.json(details, MAX_ERROR_CHARACTERS)
  }
  return {
    isError: true,
    content: [
      { type: "text", text: [description, ...described.remarks].join("\n") },
      { type: "text", text: JSON.stringify(body) }
    ]
  }
}

const MAX_ERROR_CHARACTERS = 10_000
