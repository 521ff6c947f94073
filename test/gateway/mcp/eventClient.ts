/** A client that subscribes to events: the AI SDK's, with its own webhook mounted on a local server. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import {
  createMCPClient,
  type Experimental_MCPEvent,
  type Experimental_MCPEventSubscription,
  experimental_createMCPEventWebhook,
  type MCPClient
} from "@ai-sdk/mcp"
import { Effect } from "effect"
import type { Target } from "../client.ts"

export interface Delivered {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly status: number
}

export interface EventClient {
  readonly events: MCPClient["experimental_events"]
  readonly subscribe: (
    name: string,
    args: Readonly<Record<string, string | ReadonlyArray<string> | Readonly<Record<string, string>>>>,
    more?: { readonly cursor?: string | null; readonly ttlMs?: number | null; readonly maxAgeMs?: number }
  ) => Promise<Experimental_MCPEventSubscription>
  readonly store: ReadonlyMap<string, Experimental_MCPEventSubscription>
  readonly url: string
  /** What was handed to the application. */
  readonly received: Array<Experimental_MCPEvent>
  readonly gaps: Array<string>
  readonly terminated: Array<string>
  /** Every request to the webhook with its answer. */
  readonly delivered: Array<Delivered>
  /** Answers with this status instead, as long as it is set. */
  refusal: number | undefined
}

/** Connected until the scope closes. `target` may change its address. */
export const eventClient = (target: () => Target) =>
  Effect.acquireRelease(
    Effect.promise(() => start(target)),
    ({ stop }) => Effect.promise(stop)
  ).pipe(Effect.map(({ client }) => client))

/** For a test without effects. */
export const withEventClient = async (target: Target, use: (client: EventClient) => Promise<void>): Promise<void> => {
  const { client, stop } = await start(() => target)
  await use(client).finally(stop)
}

// ---- helpers ----

const start = async (target: () => Target) => {
  const store = new Map<string, Experimental_MCPEventSubscription>()
  const port = {
    get: async (key: string) => store.get(key),
    getById: async (id: string) => [...store.values()].find((one) => one.id === id),
    set: async (subscription: Experimental_MCPEventSubscription) => {
      store.set(subscription.key, subscription)
    },
    update: async (key: string, patch: Partial<Experimental_MCPEventSubscription>) => {
      const known = store.get(key)
      if (known !== undefined) store.set(key, { ...known, ...patch })
    },
    delete: async (key: string) => {
      store.delete(key)
    }
  }
  const received: Array<Experimental_MCPEvent> = []
  const [gaps, terminated]: [Array<string>, Array<string>] = [[], []]
  const delivered: Array<Delivered> = []
  const webhook = experimental_createMCPEventWebhook({
    store: port,
    onEvent: async ({ event }) => {
      received.push(event)
    },
    onGap: async ({ gap }) => {
      gaps.push(gap.cursor)
    },
    onTerminated: async ({ termination }) => {
      terminated.push(termination.error.message)
    }
  })
  const server = createServer(async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const isEvent = !("type" in (JSON.parse(body.toString()) as object))
    const answer =
      client.refusal !== undefined && isEvent
        ? new Response(null, { status: client.refusal })
        : await webhook(new Request(`http://localhost${request.url}`, { method: "POST", headers, body }))
    delivered.push({ headers, body: body.toString(), status: answer.status })
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  })
  await new Promise<void>((resume) => server.listen(0, "127.0.0.1", resume))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  const connect = (): Promise<MCPClient> =>
    createMCPClient({
      transport: {
        type: "http",
        url: `${target().url}/mcp`,
        headers: { authorization: `Bearer ${target().key}` }
      },
      experimental_events: { store: port }
    })
  const clients: Array<MCPClient> = []
  const connected = async () => {
    const one = await connect()
    clients.push(one)
    return one.experimental_events
  }
  const events = await connected()
  const client: EventClient = {
    events,
    subscribe: async (name, args, more = {}) => {
      // Connects anew: the server may have moved.
      const { id } = await (await connected()).subscribe({
        name,
        arguments: args as Record<string, string>,
        delivery: { mode: "webhook", url, allowInsecureLocalhost: true },
        ...more
      })
      return (await port.getById(id)) ?? Promise.reject(new Error("It is not stored"))
    },
    store,
    url,
    received,
    gaps,
    terminated,
    delivered,
    refusal: undefined
  }
  const stop = async () => {
    await Promise.all(clients.map((one) => one.close().catch(() => {})))
    await new Promise((resume) => {
      server.close(resume)
      server.closeAllConnections()
    })
  }
  return { client, stop }
}
