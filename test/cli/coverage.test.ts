/** The coverage of a platform in one line. */
import { assert, describe, it } from "@effect/vitest"
import { describeWatched } from "../../cli/coverage.ts"
import type { PlatformCoverage } from "../../core/coverage/Coverage.ts"
import { PlatformId } from "../../core/model/PlatformId.ts"
import * as Timestamp from "../../core/model/Timestamp.ts"

const at = (hour: number) => Timestamp.fromMillis(Date.UTC(2026, 10, 19, hour))

const watched: PlatformCoverage = {
  platform: PlatformId.make("feeds"),
  watched_since: at(0),
  gaps: [],
  more_gaps: false,
  suspected: []
}

const gap = { from: at(2), to: at(3), cause: "outage", detail: "No answer", recovered: true } as const

const doubtful = { from: at(5), to: at(6), detail: "it shows no item of the poll before" }

describe("describeWatched", () => {
  it("says that there is no gap", () => {
    assert.strictEqual(describeWatched(watched), "since 2026-11-19T00:00:00.000Z; no gap in the last 24 hours")
  })

  it("says when events may be missing, with and without gaps", () => {
    const inDoubt =
      "in doubt in 1 period, the latest from 2026-11-19T05:00:00.000Z to 2026-11-19T06:00:00.000Z: it shows"
    assert.include(
      describeWatched({ ...watched, suspected: [doubtful] }),
      `; no gap in the last 24 hours; ${inDoubt} no item of the poll before`
    )
    assert.include(
      describeWatched({ ...watched, gaps: [gap], suspected: [doubtful, doubtful] }),
      "1 gap in the last 24 hours, 0 not recovered; the latest from 2026-11-19T02:00:00.000Z to 2026-11-19T03:00:00.000Z (outage); in doubt in 2 periods, the latest from"
    )
  })

  it("shows no control characters of a platform", () => {
    const detail = "a\u001bb"
    assert.notInclude(describeWatched({ ...watched, suspected: [{ ...doubtful, detail }] }), detail)
  })
})
