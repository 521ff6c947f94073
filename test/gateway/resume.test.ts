/** Clients that are disconnected often receive each match once and in order, over each live transport and store. */
import { assert, describe, it } from "@effect/vitest"
import { createTRPCClient, httpSubscriptionLink } from "@trpc/client"
import { Effect, Redacted } from "effect"
import { EventSource } from "eventsource"
import * as fc from "fast-check"
import type { AppRouter } from "../../gateway/trpc/router.ts"
import { isLong, sized } from "../long.ts"
import { KEY, startService } from "../program.ts"
import { temporaryDatabase } from "../stores.ts"
import { call, draft, type Target, xPost } from "./client.ts"
import { openStream } from "./sse.ts"

const CUTS = sized(10, 100)

/** From less than one frame up to about six matches. */
const MAX_BYTES = 1_500

for (const [store, start, short] of [
  ["PGlite", Effect.map(startOne({}), (target) => [target]), "tRPC"],
  ["two processes on one Postgres", Effect.suspend(startTwo), "SSE"]
] as const) {
  for (const [transport, follow] of [
    ["SSE", followSse],
    ["tRPC", followTrpc]
  ] as const) {
    const note = isLong || transport === short ? "" : " (runs in check:long; here with the other store)"
    describe(`a client of ${transport} with many disconnects, on ${store}${note}`, () => {
      it.scopedLive.runIf(note === "")("receives each match once and in order", () =>
        Effect.gen(function* () {
          const targets = yield* start
          const [writer] = targets
          if (writer === undefined) return assert.fail("There is no service")
          yield* Effect.promise(async () => {
            await call(writer, "/api.CreateRule", draft("storm", ["x"]))
            const seen: Array<string> = []
            const random = randoms()
            const following = follow({ targets, random, seen })
            await following.isOpen
            let published = 0
            while (following.cuts() < CUTS) {
              const posts = Array.from({ length: 1 + random(5) }, () => xPost(`post-${++published}`, "storm"))
              assert.strictEqual((await call(writer, "/local/events", posts)).status, 200)
            }
            const all = await allIds(writer)
            assert.lengthOf(all, published)
            await following.until(all.at(-1))
            assert.deepStrictEqual(seen, all)
          })
        })
      )
    })
  }
}

// ---- helpers ----

interface FollowOptions {
  /** Each connection goes to a random one. */
  readonly targets: ReadonlyArray<Target>
  readonly random: Random
  /** The ids of received matches. */
  readonly seen: Array<string>
}

interface Following {
  /** From then on no match may be missed. */
  readonly isOpen: Promise<void>
  readonly cuts: () => number
  /** Waits for this match, then disconnects. */
  readonly until: (last: string | undefined) => Promise<void>
}

/** A whole number below the limit. */
type Random = (limit: number) => number

/** The same numbers on every run. */
function randoms(): Random {
  const stream = fc.sample(
    fc.double({ noNaN: true, noDefaultInfinity: true, min: 0, max: 1, maxExcluded: true }),
    10_000
  )
  let at = 0
  return (limit) => Math.floor((stream[at++ % stream.length] ?? 0) * limit)
}

function startOne(settings: Readonly<Record<string, string>>) {
  return Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => startService("node", settings)),
      (running) => Effect.promise(() => running.stop())
    ),
    ({ url, host, port }): Target => ({ url, host, port, key: KEY })
  )
}

function startTwo() {
  return Effect.gen(function* () {
    const { url } = yield* temporaryDatabase
    const settings = { DATABASE_URL: Redacted.value(url) }
    return [yield* startOne(settings), yield* startOne(settings)]
  })
}

/** Oldest first. */
const allIds = async (target: Target): Promise<ReadonlyArray<string>> => {
  const ids: Array<string> = []
  let cursor: unknown
  do {
    const { body } = await call(target, "/matches", { limit: 500, ...(cursor !== undefined && { cursor }) })
    ids.push(...[...(body["matches"] ?? [])].map(({ id }) => String(id)))
    cursor = body["next_cursor"]
  } while (cursor !== undefined)
  return ids.reverse()
}

const anyOf = (targets: ReadonlyArray<Target>, random: Random): string => targets[random(targets.length)]?.url ?? ""

const gate = () => {
  let open = () => {}
  const isOpen = new Promise<void>((resolve) => {
    open = resolve
  })
  return { isOpen, open }
}

function followSse({ targets, random, seen }: FollowOptions): Following {
  const { isOpen, open } = gate()
  let cuts = 0
  let last: string | undefined
  let leave = () => {}
  const isDone = () => last !== undefined && seen.includes(last)
  const run = async () => {
    let lastId: string | undefined
    while (!isDone()) {
      const url = `${anyOf(targets, random)}/matches/stream`
      // Without a first id the client cannot resume.
      const bytes = lastId === undefined ? MAX_BYTES : random(MAX_BYTES)
      const stream = await openStream(url, { key: KEY, lastId, ...(cuts < CUTS && { bytes }) })
      leave = stream.leave
      for (let block = await stream.next(); block !== undefined; block = await stream.next()) {
        lastId = block.id
        open()
        if (block.event === "match") seen.push(block.id ?? "")
        if (isDone()) stream.leave()
      }
      cuts++
    }
  }
  const running = run()
  // `until` reports a failure.
  running.catch(() => {})
  return {
    isOpen,
    cuts: () => cuts,
    until: async (id) => {
      last = id
      if (isDone()) leave()
      await running
    }
  }
}

/** tRPC's client reconnects on its own. The test only cuts its connections. */
function followTrpc({ targets, random, seen }: FollowOptions): Following {
  const { isOpen, open } = gate()
  let cuts = 0
  let wake = () => {}
  const cutAfter = (bytes: number, abort: () => void) => {
    let left = bytes
    return new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        controller.enqueue(withShortRetry(chunk).subarray(0, left))
        left -= chunk.length
        if (left > 0) return
        cuts++
        abort()
        if (random(2) === 0) controller.terminate()
        else controller.error(new Error("Disconnected"))
      }
    })
  }
  let isFirst = true
  const client = createTRPCClient<AppRouter>({
    links: [
      httpSubscriptionLink({
        url: "http://any/trpc",
        EventSource,
        connectionParams: { authorization: `Bearer ${KEY}` },
        eventSourceOptions: {
          fetch: async (url, init) => {
            const aborting = new AbortController()
            const signal = AbortSignal.any([aborting.signal, ...(init.signal ? [init.signal as AbortSignal] : [])])
            const real = String(url).replace("http://any", anyOf(targets, random))
            const response = await fetch(real, { headers: init.headers, signal })
            const bytes = cuts >= CUTS ? Number.POSITIVE_INFINITY : isFirst ? MAX_BYTES : random(MAX_BYTES)
            isFirst = false
            const body = response.body?.pipeThrough(cutAfter(bytes, () => aborting.abort())) ?? null
            return new Response(body, { status: response.status, headers: response.headers })
          }
        }
      })
    ]
  })
  let failure: unknown
  const { unsubscribe } = client.matches.watch.subscribe(undefined, {
    onStarted: () => open(),
    onData: ({ id }) => {
      seen.push(id)
      wake()
    },
    onError: (error) => {
      failure = error
      wake()
    }
  })
  return {
    isOpen,
    cuts: () => {
      if (failure !== undefined) throw failure
      return cuts
    },
    until: async (last) => {
      while (!seen.includes(last ?? "") && failure === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      unsubscribe()
      if (failure !== undefined) throw failure
    }
  }
}

/** Lets clients reconnect at once instead of after a second. */
const withShortRetry = (chunk: Uint8Array): Uint8Array =>
  new TextEncoder().encode(new TextDecoder().decode(chunk).replace("retry: 1000\n", "retry: 0005\n"))
