/** The progress bar: its content, its width, and that it is erased at the end. */
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Option, TestClock } from "effect"
import { draw, duration, type Progress, progressBar } from "../../cli/progress.ts"

const half: Progress = {
  doneBytes: 500,
  totalBytes: Option.some(1_000),
  events: 12_345,
  matches: 87,
  seconds: 4
}

describe("draw", () => {
  it("shows the share that is done, the counters, the speed and the time left", () => {
    assert.strictEqual(
      draw(half, 100),
      "[###############---------------]  50%  12,345 events  3,086/s  87 matches  4.0 s left"
    )
  })

  it("shows an empty bar at the start, without an estimate, and a full bar at the end", () => {
    const none = { ...half, doneBytes: 0, events: 0, matches: 0, seconds: 0 }
    assert.strictEqual(draw(none, 100), "[------------------------------]   0%  0 events  0/s  0 matches")
    const all = { ...half, doneBytes: 1_000, events: 1, matches: 1 }
    assert.strictEqual(draw(all, 100), "[##############################] 100%  1 event  0/s  1 match")
  })

  it("shows only counters when the size is unknown", () => {
    assert.strictEqual(draw({ ...half, totalBytes: Option.none() }, 100), "12,345 events  3,086/s  87 matches")
  })

  it("is always narrower than the screen: it drops the bar first, then the end", () => {
    for (let columns = 0; columns < 120; columns++) {
      assert.isBelow(draw(half, columns).length, Math.max(columns, 1), `${columns}`)
    }
    assert.strictEqual(draw(half, 60), " 50%  12,345 events  3,086/s  87 matches  4.0 s left")
    assert.strictEqual(draw(half, 20), " 50%  12,345 events")
  })

  it("shows 100% for a file that grew meanwhile", () => {
    assert.include(draw({ ...half, doneBytes: 2_000 }, 100), "100%")
  })
})

describe("duration", () => {
  it("rounds and picks units for reading", () => {
    assert.deepStrictEqual([0, 4.24, 9.96, 59.4, 59.6, 185, 7_830].map(duration), [
      "0.0 s",
      "4.2 s",
      "10 s",
      "59 s",
      "1 min 0 s",
      "3 min 5 s",
      "2 h 10 min"
    ])
  })
})

describe("progressBar", () => {
  it.effect("redraws in place, prints lines above the bar, and erases it at the end", () =>
    Effect.gen(function* () {
      const written: Array<string> = []
      const write = (text: string) => Effect.sync(() => void written.push(text))
      const screen = Option.some({ columns: Effect.succeed(29), write })
      const printing = { ...(yield* Effect.console), error: (line: string) => write(`${line}\n`) }
      yield* Effect.gen(function* () {
        const { print } = yield* progressBar(screen, Effect.succeed(half))
        yield* TestClock.adjust("100 millis")
        yield* print("Wait")
        yield* TestClock.adjust("100 millis")
      }).pipe(Effect.scoped, Console.withConsole(printing))
      const shown = "\r\u001b[K 50%  12,345 events  3,086/s"
      assert.deepStrictEqual(written, [shown, "\r\u001b[K", "Wait\n", shown, "\r\u001b[K"])
    })
  )

  it.effect("prints a plain line every ten seconds without a terminal", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const printing = {
        ...(yield* Effect.console),
        error: (line: string) => Effect.sync(() => void lines.push(line))
      }
      yield* Effect.gen(function* () {
        const { print } = yield* progressBar(Option.none(), Effect.succeed(half))
        yield* TestClock.adjust("9 seconds")
        yield* print("Wait")
        yield* TestClock.adjust("12 seconds")
      }).pipe(Effect.scoped, Console.withConsole(printing))
      yield* TestClock.adjust("1 minute")
      const line = "50%  12,345 events  3,086/s  87 matches  4.0 s left"
      assert.deepStrictEqual(lines, ["Wait", line, line])
    })
  )
})
