/** Registers the tools on an MCP server. */
import {
  type CallToolResult,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext
} from "@modelcontextprotocol/server"
import { Effect, Runtime, Schedule } from "effect"
import { nearest } from "../../core/text/nearest.ts"
import { shownValue } from "../../core/text/shownValue.ts"
import { yieldIfTurnIsLong } from "../../core/work/turns.ts"
import { internal } from "../errors.ts"
import type { Call, CallError } from "./calls.ts"
import { describeError } from "./describe.ts"
import type { EventDoor } from "./eventDoor.ts"
import { addEvents, EVENT_CAPABILITIES } from "./events.ts"
import type { Tool } from "./tool.ts"
import type { Toolbox } from "./tools.ts"
import { Treatment } from "./untrusted.ts"

export interface ServerOptions<R> {
  readonly version: string
  readonly toolbox: Toolbox
  readonly call: Call<R>
  readonly runtime: Runtime.Runtime<R>
  /** Returns a new unguessable word on each call. */
  readonly newSecret: () => string
  readonly events: EventDoor<R>
  /** Calls that do not run, by the id of the request. */
  readonly refused?: ReadonlyMap<unknown, CallError>
}

/** Serves one HTTP request or one stdio connection. */
export const toolServer = <R>(options: ServerOptions<R>): McpServer => {
  const { version, toolbox, call, runtime, newSecret, events, refused = NONE } = options
  const server = new McpServer(
    { name: "earshot", title: "Earshot", version },
    { instructions: toolbox.instructions, capabilities: { tools: { listChanged: false }, ...EVENT_CAPABILITIES } }
  )
  addEvents(server, events, {
    call,
    newSecret,
    refused,
    run: (effect, signal) => Runtime.runPromise(runtime)(effect, { signal })
  })
  server.server.setRequestHandler("tools/list", () => ({
    tools: toolbox.tools.map(({ name, title, description, annotations, input, output }) => ({
      name,
      title,
      description,
      annotations,
      inputSchema: { ...input, type: "object" as const },
      ...(output !== undefined && { outputSchema: { ...output, type: "object" as const } })
    }))
  }))
  server.server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const tool = toolbox.tools.find(({ name }) => name === params.name)
    if (tool === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(params.name, toolbox))
    }
    // The operation validates the arguments, with the same messages as in the other interfaces.
    const asked = { args: params.arguments ?? {}, secret: newSecret() }
    const refusal = refused.get(mcpReq.id)
    if (refusal !== undefined) return errorResult(refusal, asked)
    // The calls of a batch start together.
    const result = Effect.zipRight(yieldIfTurnIsLong, resultOf(tool, call, asked))
    return Runtime.runPromise(runtime)(withProgress(result, mcpReq), { signal: mcpReq.signal })
  })
  return server
}

// ---- helpers ----

const NONE: ReadonlyMap<unknown, CallError> = new Map()

const unknownTool = (name: string, { tools }: Toolbox): string => {
  const names = tools.map((tool) => tool.name)
  const near = nearest(name, names)
  const advice = near === undefined ? `expected one of ${names.join(", ")}` : `did you mean ${near}?`
  return `There is no tool ${shownValue(name)}: ${advice}`
}

/** Short enough for a client that waits five seconds for each sign of life. */
const PROGRESS_SECONDS = 2

/** Reports progress while the tool runs, if the client asked for it: then a long wait does not time out there. */
const withProgress = <A, R>(
  running: Effect.Effect<A, never, R>,
  { _meta, notify }: ServerContext["mcpReq"]
): Effect.Effect<A, never, R> => {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return running
  let progress = 0
  const report = Effect.promise(() => {
    progress += PROGRESS_SECONDS
    const params = { progressToken, progress, message: `Running for ${progress} seconds` }
    // The client is gone: then the call is interrupted, too.
    return notify({ method: "notifications/progress", params }).catch(() => {})
  })
  const reports = Effect.schedule(report, Schedule.spaced(`${PROGRESS_SECONDS} seconds`))
  return Effect.scoped(Effect.zipRight(Effect.forkScoped(reports), running))
}

const resultOf = <R>(
  tool: Tool,
  call: Call<R>,
  { args, secret }: { readonly args: unknown; readonly secret: string }
): Effect.Effect<CallToolResult, never, R> =>
  tool.run(call, args, secret).pipe(
    Effect.map(({ structured, text }) => ({
      content: [{ type: "text" as const, text }],
      ...(structured !== undefined && { structuredContent: structured })
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
