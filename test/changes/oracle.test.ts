/** The oracle of the runs of changes notices each kind of difference. */
import { assert, describe, it } from "@effect/vitest"
import { fromMillis } from "../../core/model/Timestamp.ts"
import type { RuleVersion } from "../../core/rules/Rule.ts"
import { differencesOf, type Facts, isMet, type StoredMatch } from "./oracle.ts"

describe("the oracle of changes", () => {
  it("reads the filters of the runs", () => {
    assert.deepStrictEqual(
      ["cat", "cat dog", "cat AND dog", "cat OR bird", "bird"].map((filter) => isMet(filter, "event 1 is about cat")),
      [true, false, false, true, false]
    )
  })

  it("accepts each event once, with the version in force", () => {
    assert.deepStrictEqual(found([stored(1, 1), stored(2, 2)]), [])
    assert.deepStrictEqual(found([stored(1, 1), stored(2, 2), stored(3, 1)]), [])
    assert.deepStrictEqual(found([stored(1, 1), stored(2, 2), stored(3, 2)]), [])
  })

  it("notices lost, repeated and unwanted events, and wrong versions", () => {
    assert.deepStrictEqual(found([stored(2, 2)]), ["lost 1"])
    assert.deepStrictEqual(found([stored(1, 1), stored(1, 1), stored(2, 2)]), ["twice 1"])
    assert.deepStrictEqual(found([stored(1, 2), stored(2, 2)]), ["wrongVersion 1"])
    assert.deepStrictEqual(found([stored(1, 1), stored(2, 2), stored(4, 2)]), ["unwanted 4"])
  })

  it("requires no event of a gap, and none that was not acknowledged", () => {
    const gap = { platform: "x", from: 90, to: 110, cause: "process_down", isRecovered: false } as const
    assert.deepStrictEqual(found([stored(2, 2)], { gaps: [gap] }), [])
    assert.deepStrictEqual(found([stored(2, 2)], { gaps: [{ ...gap, isRecovered: true }] }), ["lost 1"])
    assert.deepStrictEqual(found([stored(2, 2)], { gaps: [{ ...gap, cause: "paused" }] }), ["lost 1"])
    const published = facts.published.map((event) => ({ ...event, isCertain: false }))
    assert.deepStrictEqual(found([], { published }), [])
  })
})

// ---- helpers ----

const version = (number: number, x: string): RuleVersion => ({
  version: number,
  at: fromMillis(0),
  name: "Animals",
  intent: "Survive",
  overrides: { x },
  paused: false,
  changed: []
})

const published = (number: number, at: number, words: string) => ({
  number,
  text: `event ${number} is about ${words}`,
  from: at,
  to: at,
  isCertain: true
})

/** The second version was made between 10,000 and 10,100 ms. */
const facts: Facts = {
  published: [
    published(1, 100, "cat"),
    published(2, 20_000, "cat bird"),
    published(3, 10_050, "cat bird"),
    published(4, 20_000, "dog")
  ],
  made: [{ version: 2, kind: "update", from: 10_000, to: 10_100 }],
  versions: [version(1, "cat"), version(2, "bird")],
  matches: [],
  gaps: [],
  inFlightMillis: 0,
  hasBackfill: false
}

const stored = (number: number, version: number): StoredMatch => ({
  platform: "x",
  number,
  version,
  isReapplied: false
})

/** The kind and the event of each difference. Event 3 is stored if no match of it is given. */
const found = (matches: ReadonlyArray<StoredMatch>, more: Partial<Facts> = {}): ReadonlyArray<string> => {
  const all = matches.some(({ number }) => number === 3) ? matches : [...matches, stored(3, 1)]
  const differences = differencesOf({ ...facts, ...more, matches: more.published === undefined ? all : matches })
  return Object.entries(differences).flatMap(([kind, texts]) =>
    texts.map((text: string) => `${kind} ${/event (\d+)/.exec(text)?.[1]}`)
  )
}
