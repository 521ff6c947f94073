/** JSON-RPC over `/mcp` without a client: for methods and arguments that a client would not send. */
import type { Target } from "../client.ts"

export interface Answered {
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: Readonly<Record<string, unknown>>
  }
}

export const post = (target: Target, method: string, params: unknown, signal?: AbortSignal): Promise<Response> =>
  fetch(`${target.url}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${target.key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream"
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 7, method, ...(params !== undefined && { params }) }),
    ...(signal !== undefined && { signal })
  })

export const rpc = async (target: Target, method: string, params: unknown): Promise<Answered> =>
  (await (await post(target, method, params)).json()) as Answered
