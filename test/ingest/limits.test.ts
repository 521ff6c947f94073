/** Ingest at the limits of its place: pages of megabytes, and a disk that is full. */
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { closeSync, openSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import type { MatchList } from "../../core/matches/Matches.ts"
import type { Running } from "../program.ts"
import { temporaryDatabase, temporaryFolder } from "../stores.ts"
import { allTitles, ask, page, serviceOn } from "./pages.ts"

const TEN_MEGABYTES = 10_000_000

const stores = [
  ["the embedded store", Effect.succeed({})],
  ["Postgres", Effect.map(temporaryDatabase, ({ url }) => ({ DATABASE_URL: Redacted.value(url) }))]
] as const

describe("A page of 10 MB", () => {
  for (const [name, settings] of stores) {
    it.scopedLive(`is stored and listed whole on ${name}, and so are those around it`, () =>
      Effect.gen(function* () {
        const { service, publish } = yield* serviceOn(yield* settings)
        yield* publish([page(1), page(2, "x".repeat(TEN_MEGABYTES)), page(3)])
        assert.deepStrictEqual(yield* titlesOnceThere(service, 3), titles(3))
        const { body } = yield* ask(service, "/matches", { limit: 3 })
        const [, large] = (body as unknown as MatchList).matches
        assert.isAbove(JSON.stringify(large?.payload).length, TEN_MEGABYTES)
      })
    )
  }
})

describe("A disk that is full", () => {
  it.scopedLive("holds up what is ingested and costs none of it", (context) =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const isMounted = yield* smallDisk(folder)
      if (!isMounted) return context.skip("A disk of its own can be mounted by root alone")
      const { service, publish } = yield* serviceOn({ EARSHOT_DATA_DIR: join(folder, "data") })
      yield* publish([page(1)])
      assert.deepStrictEqual(yield* titlesOnceThere(service, 1), titles(1))

      fill(join(folder, "filler"))
      for (let number = 2; number <= 60; number++) {
        yield* publish([page(number, randomBytes(50_000).toString("base64"))])
      }
      yield* Effect.sleep("3 seconds")
      const before = yield* allTitles(service)
      assert.isAtLeast(before.length, 1, "what is stored can be listed")
      assert.isBelow(before.length, 60)

      rmSync(join(folder, "filler"))
      assert.deepStrictEqual(yield* titlesOnceThere(service, 60), titles(60))
      const { stderr } = yield* Effect.promise(() => service.stop())
      assert.match(stderr, /Matches of \\"firehose\\" wait for the store [^\n]*No space left on device/)
    })
  )
})

// ---- helpers ----

/** Takes all the space there is, however much of it the store takes in the meantime. */
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

const titlesOnceThere = (service: Running, count: number) =>
  Effect.repeat(allTitles(service), {
    until: (titles) => titles.length >= count,
    schedule: Schedule.spaced("250 millis").pipe(Schedule.intersect(Schedule.recurs(200)))
  }).pipe(Effect.zipRight(allTitles(service)))

/** A small file system at the folder until the scope closes; false where that is not allowed. */
const smallDisk = (folder: string) =>
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
