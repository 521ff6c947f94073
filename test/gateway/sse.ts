/** A client of server-sent events that reads by hand, and can be cut off at any byte. */
import { assert } from "@effect/vitest"
import type { Match } from "../../core/matches/Match.ts"

/** One block of a stream: what stands between two empty lines. */
export interface Block {
  readonly id?: string
  readonly event?: string
  readonly data?: string
  readonly comment?: string
  readonly retry?: string
}

export interface EventStream {
  readonly headers: Headers
  /** The next block; undefined once the stream has ended as it should, or was left. */
  readonly next: () => Promise<Block | undefined>
  /** Goes away without a word. */
  readonly leave: () => void
}

/** Asks for the stream, and fails unless there is one. `bytes`: after so many of them the connection is cut. */
export const openStream = async (
  url: string,
  options: { readonly key: string; readonly lastId?: string | undefined; readonly bytes?: number }
): Promise<EventStream> => {
  const leaving = new AbortController()
  const response = await fetch(url, {
    headers: {
      authorization: `Bearer ${options.key}`,
      ...(options.lastId !== undefined && { "last-event-id": options.lastId })
    },
    signal: leaving.signal
  })
  assert.strictEqual(response.status, 200, response.status === 200 ? "" : await response.text())
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let left = options.bytes ?? Number.POSITIVE_INFINITY
  let text = ""
  let isOver = false
  const leave = () => {
    isOver = true
    leaving.abort()
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

/** The next match, past all that is none. */
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
