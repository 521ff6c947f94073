/** `GET /matches/stream`: frames, filters, resuming, refusals, back-pressure and the end. */
import { channel } from "node:diagnostics_channel"
import { connect, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, TestClock, TestServices } from "effect"
import { EVERY_ACCOUNT, Keys } from "../../core/keys/Keys.ts"
import type { Match } from "../../core/matches/Match.ts"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { firstMatchIdAt } from "../../core/model/Ids.ts"
import { LocalFeed, sentEvents } from "../../core/platforms/LocalFeed.ts"
import { sized } from "../long.ts"
import { parseMetrics, valueIn } from "../prometheus.ts"
import { assertError, call, draft, firehoseUpdate, type Json, type Target, xPost } from "./client.ts"
import { serve, service } from "./inProcess.ts"
import { exchange, requestText } from "./raw.ts"
import { type EventStream, nextMatch, openStream } from "./sse.ts"

const PATH = "/matches/stream"

const LISTENERS = sized(100, 300)

describe("GET /matches/stream", () => {
  it.scopedLive("sends each match as it is stored, as server-sent events", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const rule_id = yield* newRule(ann, "word", ["x"])
      const stream = yield* listen(ann)
      assert.deepInclude(Object.fromEntries(stream.headers), {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        "x-accel-buffering": "no"
      })
      const opening = yield* promise(stream.next)
      assert.deepInclude(opening, { retry: "1000", comment: "open" })
      assert.match(opening?.id ?? "", /^match_/)
      yield* publish(ann, [xPost("1", "a word\r\n\n: and ünïcode"), xPost("2", "another word")])
      const listed = yield* ask(ann, "/matches", {})
      for (const expected of [...(listed.body["matches"] ?? [])].reverse()) {
        const block = yield* promise(stream.next)
        assert.deepStrictEqual(Object.keys(block ?? {}), ["id", "event", "data"])
        assert.deepStrictEqual([block?.id, block?.event], [String(expected["id"]), "match"])
        assert.deepStrictEqual(JSON.parse(block?.data ?? "") as Json, expected)
        assert.strictEqual(String(expected["rule_id"]), rule_id)
      }
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("sends only matches of the query and of the account", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      const one = yield* newRule(ann, "one", ["x", "firehose"])
      yield* newRule(ann, "other", ["x"])
      yield* newRule(bob, "one other", ["x"])
      const all = yield* listen(ann)
      const byRule = yield* listen(ann, `?rule_id=${one}`)
      const byPlatform = yield* listen(ann, "?platform=firehose")
      const none = yield* listen(bob, "?platform=firehose")
      const feed = yield* LocalFeed
      yield* feed.publish(sentEvents([xPost("1", "other"), xPost("2", "one other")]))
      yield* feed.publish(sentEvents([firehoseUpdate("http://a", "one")]))
      const posts = (stream: EventStream, count: number) =>
        promise(async () => {
          const found: Array<string | undefined> = []
          while (found.length < count) found.push((await nextMatch(stream))?.platform_post_id)
          return found
        })
      const [first, second, third, page] = yield* posts(all, 4)
      assert.sameMembers([first, second, third], ["1", "2", "2"])
      assert.deepStrictEqual(yield* posts(byRule, 2), ["2", page])
      assert.deepStrictEqual(yield* posts(byPlatform, 1), [page])
      yield* newRule(bob, "last", ["firehose"])
      yield* publish(bob, [firehoseUpdate("http://b", "last")])
      assert.include((yield* posts(none, 1))[0], "b")
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("resumes after the cursor, and Last-Event-ID wins over it", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      yield* newRule(ann, "word", ["x"])
      const ids = yield* publishSome(ann, 250)
      const read = (stream: EventStream, count: number) =>
        promise(async () => {
          const found: Array<string | undefined> = []
          while (found.length < count) found.push((await nextMatch(stream))?.id)
          return found
        })
      const byCursor = yield* listen(ann, `?cursor=${ids[9]}`)
      assert.strictEqual((yield* promise(byCursor.next))?.id, ids[9])
      assert.deepStrictEqual(yield* read(byCursor, 240), ids.slice(10))
      const byHeader = yield* listen(ann, `?cursor=${ids[9]}`, ids[199])
      assert.deepStrictEqual(yield* read(byHeader, 50), ids.slice(200))
      const onlyNew = yield* listen(ann)
      const [next] = yield* publishSome(ann, 1)
      for (const stream of [byCursor, byHeader, onlyNew]) assert.deepStrictEqual(yield* read(stream, 1), [next])
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("refuses invalid queries before the stream starts", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      const foreign = yield* newRule(bob, "word", ["x"])
      const get = (query: string, headers: Readonly<Record<string, string>> = {}) =>
        promise(() => call(ann, PATH + query, undefined, { headers }))
      assertError(yield* get("?platfrom=x"), 400, "invalid_argument", /"platfrom".*did you mean "platform"/)
      assertError(yield* get("?limit=5"), 400, "invalid_argument", /"limit": Is not a known field/)
      assertError(yield* get("?platform=y"), 400, "invalid_argument", /"platform": Expected one of/)
      for (const cursor of ["", "17", "match_", foreign]) {
        assertError(yield* get(`?cursor=${cursor}`), 400, "invalid_argument", /"cursor": Expected the id of a match/)
      }
      const header = yield* get("", { "last-event-id": "17" })
      assertError(header, 400, "invalid_argument", /"Last-Event-ID": Expected the id of a match/)
      for (const rule of ["none", foreign]) assertError(yield* get(`?rule_id=${rule}`), 404, "not_found")
      assertError(yield* get("?platform=y", { authorization: "Bearer no" }), 401, "unauthenticated")
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("refuses a cursor that points to deleted matches", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      yield* newRule(ann, "word", ["x"])
      const ids = yield* publishSome(ann, 10)
      const store = yield* MatchStore
      yield* store.trim({ before: firstMatchIdAt(Date.now() + 60_000), keep: Option.some(5), atMost: 100 })
      const gone = yield* ask(ann, `${PATH}?cursor=${ids[3]}`)
      assertError(gone, 400, "failed_precondition", /no longer kept/)
      const stream = yield* listen(ann, `?cursor=${ids[4]}`)
      assert.strictEqual((yield* promise(() => nextMatch(stream)))?.id, ids[5])
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("responds to HEAD without opening a stream", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const head = requestText("HEAD", PATH, { authorization: `Bearer ${ann.key}` })
      const answer = yield* promise(() => exchange(ann, head, { bodiless: true }))
      assert.deepStrictEqual([answer?.status, answer?.headers["content-type"]], [200, "text/event-stream"])
      assert.strictEqual(yield* openStreams(ann), 0)
      const wrong = requestText("HEAD", `${PATH}?cursor=1`, { authorization: `Bearer ${ann.key}` })
      assert.strictEqual((yield* promise(() => exchange(ann, wrong, { bodiless: true })))?.status, 400)
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("serves hundreds of listeners and releases each that disconnects", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      yield* newRule(ann, "word", ["x"])
      const streams = yield* Effect.forEach(Array.from({ length: LISTENERS }), () => listen(ann), { concurrency: 50 })
      assert.strictEqual(yield* openStreams(ann), LISTENERS)
      const [id] = yield* publishSome(ann, 1)
      const received = yield* promise(() => Promise.all(streams.map(nextMatch)))
      for (const match of received) assert.strictEqual(match?.id, id)
      for (const { leave } of streams.slice(1)) leave()
      yield* untilOpen(ann, 1)
      for (const { leave } of streams) leave()
      yield* untilOpen(ann, 0)
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("buffers little for a client that stops reading, and loses nothing", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      yield* newRule(ann, "word", ["x"])
      const other = yield* listen(ann)
      const accepted = yield* acceptedSockets
      const stalled = yield* stalledClient(ann)
      const [socket] = accepted
      if (socket === undefined) return assert.fail("No connection was accepted")

      const filling = "word ".repeat(8_000)
      const ids: Array<string> = []
      // Far more than the socket buffers hold.
      while (ids.length < 750) ids.push(...(yield* publishSome(ann, 25, filling)))
      for (const id of ids) assert.strictEqual((yield* promise(() => nextMatch(other)))?.id, id)
      const size = ids.length * filling.length
      assert.isBelow(socket.bytesWritten, size / 2, "unread matches are not sent")
      assert.isAbove(socket.writableLength, 0, "the socket is stalled")
      assert.isBelow(socket.writableLength, 65_536 + 5 * filling.length, "unread matches are not buffered")

      const text = yield* promise(() => stalled.readUntil(`"id":"${ids.at(-1)}"`))
      assert.deepStrictEqual(
        Array.from(text.matchAll(/^id: (match_\w+)\nevent: match$/gm), ([, id]) => id),
        ids
      )
    }).pipe(Effect.provide(service))
  )

  it.scoped("sends a heartbeat with an id to resume from, and ends when the key is revoked", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      yield* newRule(bob, "word", ["x"])
      const stream = yield* listen(ann)
      yield* promise(stream.next)
      const [theirs] = yield* publishSome(bob, 1)
      yield* pass(16)
      const heartbeat = yield* promise(stream.next)
      assert.strictEqual(heartbeat?.comment, "still here")
      assert.isTrue(
        theirs !== undefined && (heartbeat?.id ?? "") > theirs,
        "is later than the match of the other account"
      )
      const keys = yield* Keys
      for (const { id, account_id } of yield* keys.list(EVERY_ACCOUNT)) {
        if (account_id === (yield* keys.authenticate(bob.key)).account) continue
        yield* keys.revoke(id, { ...EVERY_ACCOUNT, force: true })
      }
      yield* pass(16)
      yield* assertEnds(stream, 401, "unauthenticated")
      yield* untilOpen(ann, 0)
    }).pipe(Effect.provide(service))
  )

  it.scoped("ends within ten seconds when the key is revoked, even if it is never quiet", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [reader, publisher] = [yield* as("ann"), yield* as("ann")]
      yield* newRule(publisher, "word", ["x"])
      const stream = yield* listen(reader)
      yield* promise(stream.next)
      const keys = yield* Keys
      const { key } = yield* keys.authenticate(reader.key)
      yield* keys.revoke(key ?? "", { ...EVERY_ACCOUNT, force: true })
      for (let second = 0; second < 10; second++) {
        yield* publishSome(publisher, 1)
        yield* pass(1)
      }
      yield* publishSome(publisher, 1)
      const events = yield* promise(async () => {
        const received: Array<string | undefined> = []
        for (let block = await stream.next(); block !== undefined; block = await stream.next()) {
          received.push(block.event)
        }
        return received
      })
      assert.deepStrictEqual(events, [...Array.from({ length: 10 }, () => "match"), "error"])
    }).pipe(Effect.provide(service))
  )

  it.scoped("ends when its rule is deleted", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const rule_id = yield* newRule(ann, "word", ["x"])
      const stream = yield* listen(ann, `?rule_id=${rule_id}`)
      yield* promise(stream.next)
      yield* ask(ann, "/api.DeleteRule", { rule_id })
      yield* pass(16)
      yield* assertEnds(stream, 404, "not_found")
    }).pipe(Effect.provide(service))
  )
})

// ---- helpers ----

const promise = <A>(make: () => Promise<A>) => Effect.promise(make)

const ask = (target: Target, path: string, body?: unknown) => promise(() => call(target, path, body))

const newRule = (target: Target, words: string, platforms: ReadonlyArray<"x" | "firehose">) =>
  Effect.map(ask(target, "/api.CreateRule", draft(words, platforms)), ({ status, body }) => {
    assert.strictEqual(status, 200)
    return String(body["rule_id"])
  })

const publish = (target: Target, events: ReadonlyArray<unknown>) =>
  Effect.map(ask(target, "/local/events", events), ({ status }) => assert.strictEqual(status, 200))

let posts = 0

/** The ids of the matches, oldest first. */
const publishSome = (target: Target, count: number, text = "word") =>
  Effect.gen(function* () {
    const events = Array.from({ length: count }, () => xPost(`post-${++posts}`, text))
    yield* publish(target, events)
    const { body } = yield* ask(target, "/matches", { limit: count })
    return [...(body["matches"] ?? [])].map((match) => String((match as unknown as Match).id)).reverse()
  })

/** Disconnects when the scope closes. */
const listen = (target: Target, query = "", lastId?: string) =>
  Effect.acquireRelease(
    promise(() => openStream(target.url + PATH + query, { key: target.key, lastId })),
    ({ leave }) => Effect.sync(leave)
  )

const openStreams = (target: Target) =>
  promise(async () => {
    const text = await (await fetch(`${target.url}/metrics`)).text()
    return valueIn(parseMetrics(text), "earshot_live_streams", { door: "sse" })
  })

/** The server notices a disconnect with a delay. */
const untilOpen = (target: Target, count: number) =>
  TestServices.provideLive(
    Effect.repeat(Effect.delay(openStreams(target), "10 millis"), { until: (open) => open === count })
  )

/** Advances the clock in steps of a second, with time for timers to run. */
const pass = (seconds: number) =>
  Effect.gen(function* () {
    for (let i = 0; i < seconds; i++) {
      yield* TestClock.adjust("1 second")
      yield* TestServices.provideLive(Effect.sleep(2))
    }
  })

const assertEnds = (stream: EventStream, status: number, code: string) =>
  promise(async () => {
    let last = await stream.next()
    while (last?.comment !== undefined) last = await stream.next()
    assert.strictEqual(last?.event, "error")
    assertError({ status, body: JSON.parse(last?.data ?? "") }, status, code)
    assert.isUndefined(await stream.next())
  })

/** The server-side sockets of connections that are opened from now on. */
const acceptedSockets = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const sockets: Array<Socket> = []
      const collect = (message: unknown) => void sockets.push((message as { readonly socket: Socket }).socket)
      channel("net.server.socket").subscribe(collect)
      return { sockets, collect }
    }),
    ({ collect }) => Effect.sync(() => channel("net.server.socket").unsubscribe(collect))
  ),
  ({ sockets }) => sockets
)

/** Opens a stream and stops reading until `readUntil` is called. */
const stalledClient = (target: Target) =>
  Effect.acquireRelease(
    promise(async () => {
      const socket = connect({ host: target.host, port: target.port })
      socket.write(requestText("GET", PATH, { authorization: `Bearer ${target.key}` }))
      let text = ""
      await new Promise<void>((resolve) => {
        const onData = (data: Buffer) => {
          text += data
          if (!text.includes(": open")) return
          socket.off("data", onData).pause()
          resolve()
        }
        socket.on("data", onData)
      })
      const readUntil = async (end: string) => {
        const parts: Array<Buffer> = []
        for await (const data of socket) {
          parts.push(data)
          if (Buffer.concat(parts.slice(-3)).includes(end)) break
        }
        // Removes the chunk headers.
        return String(Buffer.concat(parts)).replaceAll(/\r\n[0-9a-f]+\r\n/g, "")
      }
      return { readUntil, leave: () => void socket.destroy() }
    }),
    ({ leave }) => Effect.sync(leave)
  )
