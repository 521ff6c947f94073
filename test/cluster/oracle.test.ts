/** The oracle of the runs with faults finds each kind of error. */
import { assert, describe, it } from "@effect/vitest"
import { backwardSteps, differencesOf, type Facts } from "./oracle.ts"
import type { ReportedGap } from "./publisher.ts"
import type { Write } from "./writes.ts"

/** One event every 100 ms, from 0 to 30 s. */
const published = Array.from({ length: 300 }, (_, at) => ({
  number: at + 1,
  text: "event about a storm",
  at: at * 100
}))

const numbers = published.map(({ number }) => number)

const write = (event: number, more: Partial<Write> = {}): Write => ({
  at: event * 100,
  platform: "x",
  server: "server-1.1",
  epoch: 1,
  owner: "a",
  table: "matches",
  event,
  ...more
})

const stream = { id: "1", platform: "x", server: "server-1", openedAt: -1, seenAt: 30_000, isOpen: true } as const

const gap = (from: number, to: number, more: Partial<ReportedGap> = {}): ReportedGap => ({
  platform: "x",
  from,
  to,
  cause: "process_down",
  isRecovered: false,
  ...more
})

const answer = (stored: ReadonlyArray<number>, gaps: ReadonlyArray<ReportedGap> = [], server = "server-1") => ({
  server,
  rule: { id: "rule_1", word: "storm" as const },
  listed: { stored: { x: stored, firehose: numbers }, gaps }
})

/** All is well on both platforms, but for the changes. */
const differences = (changes: Partial<Facts>): ReadonlyArray<string> =>
  differencesOf({
    published,
    answers: [answer(numbers)],
    writes: numbers.map((number) => write(number)),
    connections: [stream, { ...stream, id: "2", platform: "firehose" }],
    faults: [],
    ...changes
  })

const without = (from: number, to: number) => numbers.filter((number) => number < from || number > to)

describe("the oracle", () => {
  it("finds nothing if every event is stored once", () => {
    assert.deepStrictEqual(differences({}), [])
  })

  it("finds lost events, unless an unrecovered gap covers them", () => {
    const missing = without(100, 150)
    const writes = missing.map((number) => write(number))
    assert.lengthOf(differences({ answers: [answer(missing)], writes }), 51)
    assert.deepStrictEqual(differences({ answers: [answer(missing, [gap(9_900, 15_000)])], writes }), [])
    const recovered = differences({ answers: [answer(missing, [gap(9_900, 15_000, { isRecovered: true })])], writes })
    assert.match(recovered[0] ?? "", /^x event 100 .* is lost outside of every gap/)
  })

  it("finds events that are stored twice", () => {
    assert.match(differences({ answers: [answer([...numbers, 7])] })[0] ?? "", /^x event 7 .* is stored 2 times/)
  })

  it("finds a gap over time in which events were stored live", () => {
    const withGap = (to: number, platform: "x" | "firehose") =>
      differences({
        answers: [answer(numbers, [gap(0, to, { platform })])],
        writes: numbers.map((number) => write(number, { platform }))
      }).join()
    assert.match(withGap(15_000, "x"), /^x: The gap .* stored live/)
    assert.strictEqual(withGap(13_900, "x"), "", "posts of X arrive late")
    assert.match(withGap(5_000, "firehose"), /^firehose: The gap .* stored live/)
    assert.strictEqual(withGap(3_900, "firehose"), "", "within the tolerance")
  })

  it("finds a time without a stream and without a gap, open gaps, and servers that report other gaps", () => {
    const firehose = { ...stream, id: "2", platform: "firehose", seenAt: 5_000 } as const
    const connections = [stream, firehose, { ...firehose, id: "3", openedAt: 9_000 }]
    assert.match(differences({ connections }).join(), /^firehose: No gap is reported/)
    const open = differences({ answers: [answer(numbers, [gap(29_000, Number.POSITIVE_INFINITY)])] })
    assert.match(open.join(), /^server-1 reports an open gap of x/)
    const answers = [answer(numbers), answer(numbers, [gap(1, 2)], "server-2")]
    assert.match(differences({ answers }).join(), /^server-2 reports the gaps .*, and server-1 $/)
  })

  it("finds two streams at a time, unless the older one's server has a fault", () => {
    const connections = [stream, { ...stream, id: "3", server: "server-2", openedAt: 20_000 }]
    const firehose = { ...stream, id: "2", platform: "firehose" } as const
    const faults = [{ kind: "freeze", server: "server-1", from: 15_000, to: 25_000 }] as const
    assert.match(
      differences({ connections: [...connections, firehose] }).join(),
      /^x: server-1 and server-2 had streams/
    )
    assert.deepStrictEqual(differences({ connections: [...connections, firehose], faults }), [])
    const early = [{ ...faults[0], from: 5_000, to: 15_000 }]
    assert.lengthOf(differences({ connections: [...connections, firehose], faults: early }), 1, "long after the fault")
  })

  it("finds a write without an owner, by two servers in an epoch, and of an old epoch", () => {
    assert.match(differences({ writes: [write(1, { epoch: null })] }).join(), /names no owner/)
    const two = [write(1), write(2, { server: "server-2.1" })]
    assert.match(differences({ writes: two }).join(), /^x: server-2.1 wrote .* server-1.1 did so in the same epoch/)
    const old = [write(1, { epoch: 2 }), write(2)]
    assert.match(differences({ writes: old }).join(), /^x: server-1.1 wrote to matches in epoch 1 .* after epoch 2/)
  })

  it("finds a ledger that goes back", () => {
    const ledger = [5, 7, 6].map((watchedUntil) => write(1, { table: "streams", watchedUntil }))
    assert.lengthOf(backwardSteps(ledger, "x"), 1)
    assert.lengthOf(backwardSteps(ledger, "firehose"), 0)
  })
})
