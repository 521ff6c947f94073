/** Real signals to the real program on a simulated X, judged per post: each is stored, or lies in a gap. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import type { MatchList } from "../../core/matches/Matches.ts"
import * as Simulator from "../../simulator/Simulator.ts"
import { serve } from "../../simulator/server.ts"
import type { SettingsPatch } from "../../simulator/settings.ts"
import { untilTrue } from "../eventually.ts"
import { sized } from "../long.ts"
import { type Running, startService } from "../program.ts"
import { temporaryFolder } from "../stores.ts"
import { ask } from "./pages.ts"

const DROPPED_AFTER = sized("500 millis", "3 seconds")

/** Posts, ten per second, until the process wakes. */
const LOST = sized(50, 120)

describe("the program on X", { timeout: 240_000 }, () => {
  it.scopedLive(
    "has a gap for the posts that X did not send to a frozen process, although it reads old ones late",
    () =>
      Effect.gen(function* () {
        const x = yield* startX({ tier: "pay-per-use" })
        const service = yield* x.start
        yield* x.createRule(service)
        // With fewer posts the program does not know how late they are, and begins gaps much earlier.
        yield* x.publishSome(120)
        yield* untilTrue(
          "all posts are stored",
          Effect.map(listed(service), ({ stored }) => stored.size === 120)
        )

        service.signal("SIGSTOP")
        // One alone: if many were read late, gaps would begin as much earlier.
        yield* x.publishSome(1)
        yield* Effect.sleep(DROPPED_AFTER)
        yield* x.control.inject({ kind: "close", platform: "x" })
        yield* untilTrue(
          "the stream is closed",
          Effect.map(x.connections, (count) => count === 0)
        )
        yield* x.publishSome(LOST, 100)
        service.signal("SIGCONT")

        const { missing, outsideGaps } = yield* x.finish(service)
        assert.deepStrictEqual(
          missing,
          x.published.slice(121, 121 + LOST),
          "the post that X had sent before is read late, the others were not sent"
        )
        assert.deepStrictEqual(outsideGaps, [])
      })
  )

  it.scopedLive("recovers a gap although kill -9 interrupts the backfill", () =>
    Effect.gen(function* () {
      const x = yield* startX({ tier: "enterprise" })
      const first = yield* x.start
      yield* x.createRule(first)
      yield* x.publishSome(5)
      yield* untilTrue(
        "all posts are stored",
        Effect.map(listed(first), ({ stored }) => stored.size === 5)
      )
      yield* killed(first)
      yield* x.publishSome(100)

      // A backfill of 20 seconds.
      yield* x.control.patch({ x: { posts_per_second: 5 } })
      const second = yield* x.start
      yield* untilTrue(
        "the backfill has begun",
        Effect.map(listed(second), ({ stored }) => stored.size > 8)
      )
      yield* killed(second)
      const { delivered } = yield* x.control.delivered(0, 10_000)
      assert.isBelow(new Set(delivered.map(({ event }) => event)).size, 105, "the backfill was not over")

      yield* x.control.patch({ x: { posts_per_second: null } })
      const third = yield* x.start
      yield* untilTrue(
        "the stream is open",
        Effect.map(x.connections, (count) => count > 0)
      )
      const areRecovered = Effect.map(
        listed(third),
        ({ gaps }) => gaps.length > 0 && gaps.every(({ recovered }) => recovered)
      )
      // Posts prove that the backfill is over. If they do not, the gaps below say so.
      yield* Effect.timeoutOption(
        untilTrue("the gaps are recovered", Effect.zipRight(x.publishSome(20), areRecovered)),
        "50 seconds"
      )
      const { missing, gaps } = yield* x.finish(third)
      assert.deepStrictEqual(missing, [])
      assert.deepStrictEqual(
        gaps.map(({ cause, recovered }) => [cause, recovered]),
        gaps.map(() => ["process_down", true])
      )
    })
  )
})

// ---- helpers ----

interface Post {
  readonly id: string
  /** Its `created_at`, in milliseconds. */
  readonly at: number
}

const startX = (settings: NonNullable<SettingsPatch["x"]>) =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryFolder
    const simulator = yield* Simulator.make({ seed: 1, settings: { x: { dead_slot_seconds: 0, ...settings } } })
    const port = yield* Effect.orDie(serve(simulator, { host: "127.0.0.1", port: 0 }))
    const { control } = simulator
    const published: Array<Post> = []

    const publish = Effect.gen(function* () {
      const at = yield* Clock.currentTimeMillis
      const id = String(1_000_000 + published.length)
      published.push({ id, at })
      const data = { id, text: `storm ${id}`, author_id: "7", created_at: new Date(at).toISOString() }
      yield* Effect.orDieWith(control.publish([{ data }]), (reason) => new Error(reason))
    })
    const connections = Effect.map(control.state, (state) => state.x.connections.length)

    return {
      control,
      published,
      connections,
      start: Effect.acquireRelease(
        Effect.promise(() =>
          startService("node", {
            EARSHOT_DATA_DIR: dataDir,
            X_BASE_URL: `http://127.0.0.1:${port}`,
            X_BEARER_TOKEN: control.settings.x.bearer_token,
            LOG_LEVEL: "error"
          })
        ),
        killed
      ),
      /** Waits until the stream is open for it. */
      createRule: (service: Running) =>
        Effect.gen(function* () {
          const rule = { name: "n", intent: "i", platforms: ["x"], overrides: { x: "storm" } }
          assert.strictEqual((yield* ask(service, "/api.CreateRule", rule)).status, 200)
          yield* untilTrue(
            "the stream is open",
            Effect.map(connections, (count) => count > 0)
          )
        }),
      publishSome: (count: number, everyMillis = 10) =>
        Effect.replicateEffect(Effect.zipRight(publish, Effect.sleep(everyMillis)), count),
      /** Waits for a post that is made while the stream is open, and judges every post. */
      finish: (service: Running) =>
        Effect.gen(function* () {
          yield* untilTrue(
            "the stream is open",
            Effect.map(connections, (count) => count > 0)
          )
          yield* publish
          const last = published.at(-1)?.id ?? ""
          yield* untilTrue(
            "the last post is stored",
            Effect.map(listed(service), ({ stored }) => stored.has(last))
          )
          const { stored, gaps } = yield* listed(service)
          const missing = published.filter(({ id }) => !stored.has(id))
          const isIn = (at: number) => (gap: Gap) =>
            !gap.recovered && at >= Date.parse(gap.from) && (gap.to === undefined || at <= Date.parse(gap.to))
          return { stored, gaps, missing, outsideGaps: missing.filter(({ at }) => !gaps.some(isIn(at))) }
        })
    }
  })

const killed = ({ signal, ended }: Running) =>
  Effect.promise(() => {
    signal("SIGKILL")
    return ended
  })

type Gap = (typeof MatchList.Encoded)["coverage"]["platforms"][number]["gaps"][number]

/** The ids of all stored posts, and the gaps without the time until the new rule took effect. */
const listed = (service: Running) =>
  Effect.gen(function* () {
    const stored = new Set<string>()
    let cursor: string | undefined
    const gaps = new Map<string, Gap>()
    do {
      const { body } = yield* ask(service, "/matches", { limit: 500, ...(cursor !== undefined && { cursor }) })
      const { matches, coverage, next_cursor } = body as unknown as typeof MatchList.Encoded
      for (const { payload } of matches) stored.add((payload as { data: { id: string } }).data.id)
      for (const gap of coverage.platforms.flatMap((platform) => platform.gaps)) gaps.set(gap.from, gap)
      cursor = next_cursor
    } while (cursor !== undefined)
    return { stored, gaps: [...gaps.values()].filter(({ cause }) => cause !== "rule_pending") }
  })
