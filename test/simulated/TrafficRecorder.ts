/** Records the traffic between the service and the simulator, with parsers independent of the service's. */
import type { PlatformId } from "../../fixtures/languages.ts"

type Send = (request: Request) => Promise<Response>

export interface StreamRecord {
  /** Arrival of the last byte, in milliseconds. */
  readonly at: number
  /** The platform and the post id or page offset. */
  readonly name: string
  /** False for a torn record or one with an incomplete character. */
  readonly isIntact: boolean
}

export class TrafficRecorder {
  readonly records: Array<StreamRecord> = []
  /** Platform rule ids that the service asked to delete. */
  readonly deletedRuleIds: Array<string> = []
  /** How often the service was frozen. */
  freezes = 0
  private readonly upstream: Send
  private readonly now: () => number
  private frozen: { readonly until: Promise<void>; readonly end: () => void } | undefined
  private readonly burst = { at: 0, calls: 0 }

  constructor(upstream: Send, now: () => number) {
    this.upstream = upstream
    this.now = now
  }

  readonly send: Send = async (request) => {
    if (this.isLoop()) return new Promise(() => {})
    await this.recordDelete(request.clone())
    const response = await this.upstream(request)
    const platform = platformByPath[new URL(request.url).pathname]
    if (platform === undefined || response.status !== 200 || response.body === null) return response
    return new Response(this.recorded(platform, response.body), response)
  }

  /** The service reads nothing more of its streams until `thaw`. What arrives meanwhile lies in a buffer. */
  freeze(): void {
    if (this.frozen !== undefined) return
    let end = () => {}
    const until = new Promise<void>((resolve) => {
      end = resolve
    })
    this.frozen = { until, end }
  }

  thaw(): void {
    if (this.frozen === undefined) return
    this.freezes++
    this.frozen.end()
    this.frozen = undefined
  }

  /** A retry loop without a delay would hang the test, because simulated time stands still: it gets no reply. */
  private isLoop(): boolean {
    const at = this.now()
    if (at !== this.burst.at) Object.assign(this.burst, { at, calls: 0 })
    return ++this.burst.calls > MAX_CALLS_AT_ONCE
  }

  private async recordDelete(request: Request): Promise<void> {
    const { pathname } = new URL(request.url)
    if (request.method === "DELETE") this.deletedRuleIds.push(pathname.slice(pathname.lastIndexOf("/") + 1))
    if (request.method !== "POST" || pathname !== "/2/tweets/search/stream/rules") return
    const body: { readonly delete?: { readonly ids?: ReadonlyArray<string> } } = JSON.parse(await request.text())
    this.deletedRuleIds.push(...(body.delete?.ids ?? []))
  }

  /** Passes the same bytes on, without prefetching. */
  private recorded(platform: PlatformId, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader()
    const decoder = new TextDecoder()
    let text = ""
    let pending: Promise<Read> | undefined
    const read = (): Promise<Read> => {
      pending ??= reader.read().catch((error: unknown) => ({ value: undefined, error }))
      return pending
    }
    const arrived = async (): Promise<ReadonlyArray<Read>> => {
      const buffer = [await read()]
      pending = undefined
      while (this.frozen !== undefined) {
        const { until } = this.frozen
        const isOver = buffer.at(-1)?.value === undefined
        const more = isOver ? await until : await Promise.race([read(), until])
        if (more === undefined) break
        pending = undefined
        buffer.push(more)
      }
      return buffer
    }
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      for (const { value, error } of await arrived()) {
        if (value === undefined) return error === undefined ? controller.close() : controller.error(error)
        text += decoder.decode(value, { stream: true })
        const parts = text.split(separators[platform])
        text = parts.pop() ?? ""
        for (const part of parts) this.record(platform, part)
        controller.enqueue(value)
      }
    }
    return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 })
  }

  private record(platform: PlatformId, part: string): void {
    const [, name, json] = recordPatterns[platform].exec(part) ?? []
    if (name !== undefined && json !== undefined) {
      // A new string: a part of the text would keep all of it in memory.
      this.records.push({ name: `${platform} ${Number(name)}`, at: this.now(), isIntact: isIntact(json) })
    }
  }
}

// ---- helpers ----

/** `error`: the connection was cut. */
interface Read {
  readonly value?: Uint8Array | undefined
  readonly error?: unknown
}

/** Far more than one reconciliation of all rules needs. */
const MAX_CALLS_AT_ONCE = 200

const platformByPath: Readonly<Record<string, PlatformId>> = {
  "/2/tweets/search/stream": "x",
  "/v1/stream": "firehose"
}

const separators = { x: "\r\n", firehose: "\n\n" }

/** Captures the name and the JSON. The name is in the first half, so a torn record has it too. */
const recordPatterns = {
  x: /^(?=\{"data":\{"id":"(\d+)")(.*)$/,
  firehose: /^id: \d+-(\d+)\nevent: update\ndata: (.*)$/
}

const isIntact = (json: string): boolean => {
  try {
    JSON.parse(json)
    return !json.includes("\uFFFD")
  } catch {
    return false
  }
}
