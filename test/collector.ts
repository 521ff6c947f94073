/** A fake OpenTelemetry collector that records the spans it receives. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert } from "@effect/vitest"
import { Effect, type Scope } from "effect"

export interface WireSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: Readonly<Record<string, unknown>> }>
  readonly status: { readonly code: number; readonly message?: string }
}

export interface Collector {
  readonly url: string
  readonly spans: ReadonlyArray<WireSpan>
  /** Number of spans per request. */
  readonly batches: ReadonlyArray<number>
  /** The `resource` of each request. */
  readonly resources: ReadonlyArray<unknown>
  readonly bodies: ReadonlyArray<string>
  /** Sets the status of all further responses; "nothing" sends no response. */
  readonly answerWith: (status: number | "nothing") => void
  /** Resolves after that many requests. */
  readonly requests: (count: number) => Promise<void>
}

export const collector: Effect.Effect<Collector, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() => start()),
  ({ stop }) => Effect.promise(stop)
)

/** Attribute values by name. */
export const attributesOf = ({ attributes }: WireSpan): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

// ---- helpers ----

const start = async () => {
  const spans: Array<WireSpan> = []
  const batches: Array<number> = []
  const resources: Array<unknown> = []
  const bodies: Array<string> = []
  let status: number | "nothing" = 200
  let count = 0
  let wake = () => {}
  const server = createServer(async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    count++
    assert.deepStrictEqual(
      [request.method, request.url, request.headers["content-type"]],
      ["POST", "/v1/traces", "application/json"]
    )
    const body = Buffer.concat(chunks).toString()
    if (status === 200) {
      const [{ resource, scopeSpans }] = JSON.parse(body).resourceSpans
      bodies.push(body)
      resources.push(resource)
      spans.push(...scopeSpans[0].spans)
      batches.push(scopeSpans[0].spans.length)
    }
    if (status !== "nothing") response.writeHead(status, { "content-type": "application/json" }).end("{}")
    wake()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    batches,
    resources,
    bodies,
    answerWith: (next: number | "nothing") => {
      status = next
    },
    requests: async (expected: number) => {
      while (count < expected) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
