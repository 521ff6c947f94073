import { assert, describe, it } from "@effect/vitest"
import { TRPCClientError } from "@trpc/client"
import { afterEach, beforeEach, vi } from "vitest"
import type { Problem } from "../../../console/client.ts"
import { beforeOf, type Client, firstPage, follow } from "../../../console/matches/follow.ts"
import type { MatchMessage } from "../../../console/matches/tail.ts"

const coverage = { to: "2026-11-17T12:00:00.000Z", platforms: [] }

const message = (id: string): MatchMessage => ({ id, data: { type: "coverage", coverage } })

const failure = (code?: string): Error =>
  code === undefined
    ? new TRPCClientError("fetch failed")
    : TRPCClientError.from({ error: { code: -32_000, message: code, data: { code } } } as never)

interface Handlers {
  readonly onData: (message: MatchMessage) => void
  readonly onError: (error: Error) => void
  readonly onConnectionStateChange: (change: { readonly state: string }) => void
}

/** A server whose streams and answers the test decides. */
class Server {
  readonly streams: Array<{ readonly cursor: string; readonly handlers: Handlers; isOpen: boolean }> = []
  readonly asked: Array<string> = []
  answer: () => Promise<unknown> = async () => ({ cursor: "c" })
  pages: Array<{ readonly matches: ReadonlyArray<{ readonly id: string }> }> = []

  // Has the procedures that are used here only.
  readonly client = {
    matches: {
      list: {
        query: async () => {
          this.asked.push("list")
          return { ...this.pages.shift(), coverage }
        }
      },
      wait: {
        query: async ({ cursor }: { readonly cursor?: string }) => {
          this.asked.push(`wait ${cursor ?? ""}`.trim())
          return this.answer()
        }
      },
      events: {
        subscribe: ({ cursor }: { readonly cursor: string }, handlers: Handlers) => {
          const stream = { cursor, handlers, isOpen: true }
          this.streams.push(stream)
          return {
            unsubscribe: () => {
              stream.isOpen = false
            }
          }
        }
      }
    }
  } as unknown as Client

  get newest(): Handlers {
    const stream = this.streams.at(-1)
    assert.isDefined(stream)
    return (stream as (typeof this.streams)[number]).handlers
  }
}

const start = (server: Server) => {
  const log: Array<string> = []
  const stop = follow({
    client: server.client,
    query: {},
    cursor: "m1",
    onMessage: ({ id }) => log.push(id),
    onConnection: (connection) => log.push(connection),
    onExpired: () => log.push("expired"),
    onProblem: ({ code }: Problem) => log.push(code)
  })
  return { log, stop }
}

describe("follow", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it("starts after the cursor", () => {
    const server = new Server()
    start(server)
    assert.deepStrictEqual(
      server.streams.map(({ cursor }) => cursor),
      ["m1"]
    )
  })

  it("connects again after the last message that it has", async () => {
    const server = new Server()
    const { log } = start(server)
    server.newest.onConnectionStateChange({ state: "pending" })
    server.newest.onData(message("m2"))
    server.newest.onData(message("m3"))
    server.newest.onError(failure())
    await vi.advanceTimersByTimeAsync(60_000)
    assert.deepStrictEqual(
      server.streams.map(({ cursor }) => cursor),
      ["m1", "m3"]
    )
    assert.deepStrictEqual(log, ["live", "m2", "m3", "reconnecting"])
  })

  it("tries again for as long as the server does not answer, at longer intervals", async () => {
    const server = new Server()
    server.answer = () => Promise.reject(failure())
    start(server)
    server.newest.onError(failure())
    await vi.advanceTimersByTimeAsync(60_000)
    assert.isAbove(server.asked.length, 5)
    assert.isBelow(server.asked.length, 15)
    server.answer = async () => ({})
    await vi.advanceTimersByTimeAsync(10_000)
    assert.lengthOf(server.streams, 2)
  })

  it("says reconnecting only after it was connected", () => {
    const server = new Server()
    const { log } = start(server)
    for (const state of ["connecting", "pending", "connecting"]) server.newest.onConnectionStateChange({ state })
    assert.deepStrictEqual(log, ["connecting", "live", "reconnecting"])
  })

  it("asks for the list again if the cursor has expired", async () => {
    const server = new Server()
    server.answer = () => Promise.reject(failure("failed_precondition"))
    const { log } = start(server)
    server.newest.onError(failure())
    await vi.advanceTimersByTimeAsync(60_000)
    assert.deepStrictEqual(log, ["reconnecting", "expired"])
    assert.lengthOf(server.streams, 1)
  })

  it("stops with the problem if trying again does not help", async () => {
    const server = new Server()
    const { log } = start(server)
    server.newest.onError(failure("not_found"))
    await vi.advanceTimersByTimeAsync(60_000)
    assert.deepStrictEqual(log, ["not_found"])
    assert.deepStrictEqual(server.asked, [])
  })

  it("does nothing more once it is stopped", async () => {
    const server = new Server()
    const { log, stop } = start(server)
    server.newest.onError(failure())
    stop()
    server.newest.onData(message("m2"))
    await vi.advanceTimersByTimeAsync(60_000)
    assert.deepStrictEqual(log, ["reconnecting"])
    assert.isFalse(server.streams[0]?.isOpen)
  })
})

describe("firstPage", () => {
  it("returns the newest match as the cursor", async () => {
    const server = new Server()
    server.pages = [{ matches: [{ id: "m9" }, { id: "m8" }] }]
    assert.strictEqual((await firstPage(server.client, {})).cursor, "m9")
  })

  it("reads an empty list again after it has a cursor, so that no match is between them", async () => {
    const server = new Server()
    server.pages = [{ matches: [] }, { matches: [{ id: "m1" }] }]
    const { page, cursor } = await firstPage(server.client, {})
    assert.deepStrictEqual(server.asked, ["list", "wait", "list"])
    assert.strictEqual(cursor, "c")
    assert.lengthOf(page.matches, 1)
  })

  it("beforeOf has no cursor for a time to come", () => {
    assert.isUndefined(beforeOf("2026-11-17T12:00:00.000Z", Date.parse("2026-11-17T11:00:00.000Z")))
    assert.isDefined(beforeOf("2026-11-17T12:00:00.000Z", Date.parse("2026-11-17T13:00:00.000Z")))
  })
})
