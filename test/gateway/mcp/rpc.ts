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

export const rpc = async (
  target: Target,
  method: string,
  params: unknown,
  headers: Readonly<Record<string, string>> = {}
): Promise<Answered> => {
  const response = await fetch(`${target.url}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${target.key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 7, method, ...(params !== undefined && { params }) })
  })
  return (await response.json()) as Answered
}
