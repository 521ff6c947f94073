import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Either, Option } from "effect"
import fc from "fast-check"
import { type Frame, frameOf } from "../../../adapters/bluesky/frames.ts"
import { Position } from "../../../adapters/bluesky/Position.ts"
import { bluesky } from "../../../core/languages/bluesky.ts"
import { type JsonObject, numberOf, objectOf } from "../../../core/text/json.ts"
import { ROOT } from "../../program.ts"

/** The samples have the first format of the wire; this is the second, which the adapter reads. */
const secondFormat = (record: JsonObject, seq: number): string => {
  const { did, time_us, kind, commit, account, identity } = record
  const time = new Date(Math.floor((numberOf(time_us) ?? 0) / 1_000)).toISOString().replace("Z", "327Z")
  const payload = {
    $type: `network.bsky.jetstream.subscribeEvents#${kind}`,
    seq,
    did,
    time,
    ...objectOf(commit),
    ...(account !== undefined && { account }),
    ...(identity !== undefined && { identity })
  }
  return JSON.stringify({ $type: "message", payload })
}

const samples = ["posts.jsonl", "other.jsonl"].flatMap((name) =>
  readFileSync(join(ROOT, "test/adapters/bluesky/samples", name), "utf8")
    .trim()
    .split("\n")
    .map((line) => objectOf(JSON.parse(line)) ?? assert.fail(line))
)

const read = (text: string): Frame => Either.getOrThrow(frameOf(text)) ?? assert.fail(text)

describe("frameOf", () => {
  it("reads every sample: posts as the event format has them, and what withdraws them", () => {
    const frames = samples.map((record, index) => ({ record, frame: read(secondFormat(record, 1_000 + index)) }))
    assert.sameMembers(
      [...new Set(frames.map(({ frame }) => frame._tag))],
      ["Post", "Deleted", "Account", "Identity", "Other"]
    )
    for (const { record, frame } of frames) {
      if (frame._tag !== "Post") continue
      assert.isTrue(Either.isRight(bluesky.events.read(frame.payload, 0)))
      assert.strictEqual(frame.uri, Either.getOrThrow(bluesky.events.idOf(record, String)))
      assert.strictEqual(bluesky.events.timeOf(frame.payload), frame.at)
      assert.deepStrictEqual(objectOf(frame.payload["commit"])?.["record"], objectOf(record["commit"])?.["record"])
    }
  })

  it("leaves out posts that are old when the stream sends them, as after a repair", () => {
    const [first] = samples
    const old = secondFormat(first ?? {}, 1).replace(/"createdAt":"2026/, '"createdAt":"2025')
    assert.deepInclude(read(old), { _tag: "Other", seq: 1 })
  })

  it("reads the end of a connection and a cursor that is too old, and passes over what it does not know", () => {
    assert.deepStrictEqual(read('{"$type":"error","error":"ConsumerTooSlow","message":"Too slow"}'), {
      _tag: "Failed",
      reason: "ConsumerTooSlow: Too slow"
    })
    const info =
      '{"$type":"message","payload":{"$type":"network.bsky.jetstream.subscribeEvents#info","name":"OutdatedCursor"}}'
    assert.deepStrictEqual(read(info), { _tag: "Outdated" })
    for (const text of ["{}", '{"$type":"message","payload":{"$type":"a.b#new","seq":1}}', '{"payload":7}']) {
      assert.deepStrictEqual(frameOf(text), Either.right(undefined))
    }
    assert.isTrue(Either.isLeft(frameOf('{"$type":"mess')))
    assert.isTrue(Either.isLeft(frameOf("[".repeat(50_000))))
  })

  it("reads any field that is missing or of another type, or says why not", () => {
    const wrong = fc.constantFrom<unknown>(undefined, null, 7, -1, "", "2026-99-99T", [], {}, true, 1e300, "\ud800")
    fc.assert(
      fc.property(fc.nat(samples.length - 1), fc.nat(40), wrong, (index, place, value) => {
        let left = place
        const text = secondFormat(samples[index] ?? {}, 5)
        const broken = JSON.stringify(JSON.parse(text, (_, one: unknown) => (left-- === 0 ? value : one))) ?? ""
        const found = frameOf(broken)
        if (Either.isRight(found) && found.right?._tag === "Post") {
          assert.isTrue(Either.isRight(bluesky.events.read(found.right.payload, 0)))
        }
      }),
      { numRuns: 1_000 }
    )
  })
})

describe("Position", () => {
  it("resumes by number on the same host, and by an earlier time on another one", () => {
    const position = new Position("east", Option.none())
    assert.isUndefined(position.resume)
    position.advance({ seq: 7, at: 1_700_000_020_000 })
    const cursor = position.cursor() ?? assert.fail()
    assert.strictEqual(position.cursor({ seq: 5, at: 1_700_000_010_000 }), "4 1700000010000 east")
    assert.deepStrictEqual(new Position("east", Option.some(cursor)).resume, {
      cursor: 7,
      at: 1_700_000_020_000,
      after: 7
    })
    const elsewhere = new Position("west", Option.some(cursor))
    assert.deepStrictEqual(elsewhere.resume, { cursor: 1_700_000_010_000_000, at: 1_700_000_020_000 })
    assert.isUndefined(elsewhere.cursor(), "the number of another host is not stored as one of this host")
    assert.isUndefined(new Position("east", Option.some("nonsense")).resume)
  })

  it("resumes by time once the host does not accept the number", () => {
    const position = new Position("east", Option.some("7 1700000020000 east"))
    assert.isTrue(position.reset())
    assert.isFalse(position.reset())
    assert.deepStrictEqual(position.resume, { cursor: 1_700_000_010_000_000, at: 1_700_000_020_000 })
  })
})
