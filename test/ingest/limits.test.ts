/** Ingest at its limits: pages of 10 MB, and a full disk. */
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { closeSync, openSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import type { MatchList } from "../../core/matches/Matches.ts"
import type { Served } from "../program.ts"
import { temporaryDatabase, temporaryFolder } from "../stores.ts"
import { allTitles, ask, page, startWithFirehose } from "./pages.ts"

const TEN_MEGABYTES = 10_000_000

const stores = [
  ["the embedded store", Effect.succeed({})],
  ["Postgres", Effect.map(temporaryDatabase, ({ url }) => ({ DATABASE_URL: Redacted.value(url) }))]
] as const

describe("a page of 10 MB", () => {
  for (const [name, settings] of stores) {
    it.scopedLive(`is stored and listed whole on ${name}, with its neighbours`, () =>
      Effect.gen(function* () {
        const { service, publish } = yield* startWithFirehose(yield* settings)
        yield* publish([page(1), page(2, "x".repeat(TEN_MEGABYTES)), page(3)])
        assert.deepStrictEqual(yield* eventualTitles(service, 3), titles(3))
        const first = (yield* ask(service, "/matches", { limit: 3 })).body as unknown as MatchList
        const { body } = yield* ask(service, "/matches", { limit: 3, cursor: first.next_cursor })
        const [large] = (body as unknown as MatchList).matches
        assert.isAbove(JSON.stringify(large?.payload).length, TEN_MEGABYTES)
      })
    )
  }
})

describe("a full disk", () => {
  it.scopedLive("delays ingest and loses no event", (context) =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const isMounted = yield* mountSmallDisk(folder)
      if (!isMounted) return context.skip("Only root can mount a disk")
      const { service, publish } = yield* startWithFirehose({ EARSHOT_DATA_DIR: join(folder, "data") })
      yield* publish([page(1)])
      assert.deepStrictEqual(yield* eventualTitles(service, 1), titles(1))

      fill(join(folder, "filler"))
      for (let number = 2; number <= 60; number++) {
        yield* publish([page(number, randomBytes(50_000).toString("base64"))])
      }
      yield* Effect.sleep("3 seconds")
      const before = yield* allTitles(service)
      assert.isAtLeast(before.length, 1, "lists stored matches")
      assert.isBelow(before.length, 60)

      rmSync(join(folder, "filler"))
      assert.deepStrictEqual(yield* eventualTitles(service, 60), titles(60))
      const { stderr } = yield* Effect.promise(() => service.stop())
      // The store becomes read-only once the disk is seen to be full.
      assert.match(
        stderr,
        /Cannot store matches of \\"firehose\\", retrying [^\n]*(No space left on device|read-only transaction)/
      )
      assert.match(stderr, /The disk of the store is full/)
    })
  )
})

// ---- helpers ----

/** Fills the disk, also while the store writes. */
const fill = (path: string) => {
  const fd = openSync(path, "w")
  for (const bytes of [1_048_576, 4_096]) {
    const chunk = Buffer.alloc(bytes)
    for (let isFull = false; !isFull; ) {
      try {
        writeSync(fd, chunk)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error
        isFull = true
      }
    }
  }
  closeSync(fd)
}

const titles = (count: number) => Array.from({ length: count }, (_, at) => `storm ${count - at}`)

const eventualTitles = (service: Served, count: number) =>
  Effect.repeat(allTitles(service), {
    until: (titles) => titles.length >= count,
    schedule: Schedule.spaced("250 millis").pipe(Schedule.intersect(Schedule.recurs(200)))
  }).pipe(Effect.zipRight(allTitles(service)))

/** Mounts a small file system at the folder until the scope closes; false without permission. */
const mountSmallDisk = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      try {
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=120m", "tmpfs", folder], { stdio: "ignore" })
        return true
      } catch {
        return false
      }
    }),
    (isMounted) => Effect.sync(() => void (isMounted && execFileSync("umount", ["--lazy", folder])))
  )
