/** A client of server-sent events that can disconnect after any byte. */
import { assert } from "@effect/vitest"
import type { Match } from "../../core/matches/Match.ts"

/** The fields between two empty lines. */
export interface Block {
  readonly id?: string
  readonly event?: string
  readonly data?: string
  readonly comment?: string
  readonly retry?: string
}

export interface EventStream {
  readonly headers: Headers
  /** Undefined after a clean end or after `leave`. */
  readonly next: () => Promise<Block | undefined>
  readonly leave: () => void
}

/** Disconnects after `bytes`, if given. */
export const openStream = async (
  url: string,
  options: { readonly key: string; readonly lastId?: string | undefined; readonly bytes?: number }
): Promise<EventStream> => {
  const aborting = new AbortController()
  const response = await fetch(url, {
    headers: {
      authorization: `Bearer ${options.key}`,
      ...(options.lastId !== undefined && { "last-event-id": options.lastId })
    },
    signal: aborting.signal
  })
  assert.strictEqual(response.status, 200, response.status === 200 ? "" : await response.text())
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let left = options.bytes ?? Number.POSITIVE_INFINITY
  let text = ""
  let isOver = false
  const leave = () => {
    isOver = true
    aborting.abort()
  }

  const next = async (): Promise<Block | undefined> => {
    for (;;) {
      const end = text.indexOf("\n\n")
      if (end >= 0) {
        const block = parse(text.slice(0, end))
        text = text.slice(end + 2)
        return block
      }
      if (isOver) return undefined
      const read = await reader?.read().catch((cause: unknown) => {
        if (isOver) return undefined
        throw cause
      })
      if (read?.value === undefined) return undefined
      text += decoder.decode(read.value.subarray(0, left), { stream: true })
      left -= read.value.length
      if (left <= 0) leave()
    }
  }
  return { headers: response.headers, next, leave }
}

/** The next match. Skips other events. */
export const nextMatch = async (stream: EventStream): Promise<Match | undefined> => {
  for (;;) {
    const block = await stream.next()
    if (block === undefined) return undefined
    if (block.event !== "match") continue
    const match = JSON.parse(block.data ?? "") as Match
    assert.strictEqual(block.id, match.id)
    return match
  }
}

// ---- helpers ----

const parse = (text: string): Block =>
  Object.fromEntries(
    text.split("\n").map((line) => {
      const colon = line.indexOf(":")
      const name = colon === 0 ? "comment" : line.slice(0, colon)
      assert.include(["id", "event", "data", "comment", "retry"], name, line)
      return [name, line.slice(colon + 2)]
    })
  )
