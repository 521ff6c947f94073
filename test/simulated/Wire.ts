/** What goes over the wire between the service and the simulator, read by other code than the service's own. */
import type { PlatformId } from "../platforms.ts"

type Send = (request: Request) => Promise<Response>

/** A record of a stream, as it came. */
export interface WireRecord {
  /** In milliseconds: when its last byte came. */
  readonly at: number
  /** The platform with the id of the post or the offset of the page. */
  readonly name: string
  /** As it was sent, and not torn or with half of a character. */
  readonly isWhole: boolean
}

export class Wire {
  readonly records: Array<WireRecord> = []
  /** Ids of the platforms' rules that the service has asked to delete. */
  readonly deleted: Array<string> = []
  private readonly other: Send
  private readonly now: () => number
  private readonly atOnce = { at: 0, calls: 0 }

  constructor(other: Send, now: () => number) {
    this.other = other
    this.now = now
  }

  readonly send: Send = async (request) => {
    if (this.isLoop()) return new Promise(() => {})
    await this.noteDeleted(request.clone())
    const response = await this.other(request)
    const platform = STREAMS[new URL(request.url).pathname]
    if (platform === undefined || response.status !== 200 || response.body === null) return response
    return new Response(this.noted(platform, response.body), response)
  }

  /** Calls that are made again and again in no time would keep the test from ever ending: they get no answer. */
  private isLoop(): boolean {
    const at = this.now()
    if (at !== this.atOnce.at) Object.assign(this.atOnce, { at, calls: 0 })
    return ++this.atOnce.calls > MOST_AT_ONCE
  }

  private async noteDeleted(request: Request): Promise<void> {
    const { pathname } = new URL(request.url)
    if (request.method === "DELETE") this.deleted.push(pathname.slice(pathname.lastIndexOf("/") + 1))
    if (request.method !== "POST" || pathname !== "/2/tweets/search/stream/rules") return
    const body: { readonly delete?: { readonly ids?: ReadonlyArray<string> } } = JSON.parse(await request.text())
    this.deleted.push(...(body.delete?.ids ?? []))
  }

  /** The same bytes, not sooner than they are asked for. */
  private noted(platform: PlatformId, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader()
    const decoder = new TextDecoder()
    let text = ""
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      const { value } = await reader.read()
      if (value === undefined) return controller.close()
      text += decoder.decode(value, { stream: true })
      const parts = text.split(ENDS[platform])
      text = parts.pop() ?? ""
      for (const part of parts) this.note(platform, part)
      controller.enqueue(value)
    }
    return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 })
  }

  private note(platform: PlatformId, part: string): void {
    const [, name, json] = RECORDS[platform].exec(part) ?? []
    if (name !== undefined && json !== undefined) {
      this.records.push({ name: `${platform} ${name}`, at: this.now(), isWhole: isWhole(json) })
    }
  }
}

// ---- helpers ----

/** Far more than a comparison of all rules takes. */
const MOST_AT_ONCE = 200

const STREAMS: Readonly<Record<string, PlatformId>> = { "/2/tweets/search/stream": "x", "/v1/stream": "firehose" }

const ENDS = { x: "\r\n", firehose: "\n\n" }

/** The name, which stands in the first half of a torn one too, and the JSON. */
const RECORDS = {
  x: /^(?=\{"data":\{"id":"(\d+)")(.*)$/,
  firehose: /^id: \d+-(\d+)\nevent: update\ndata: (.*)$/
}

const isWhole = (json: string): boolean => {
  try {
    JSON.parse(json)
    return !json.includes("\uFFFD")
  } catch {
    return false
  }
}
