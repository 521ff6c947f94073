/** An account has rules that are as expensive as possible. The events of another account cost no more than without them. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { call, type Target } from "../gateway/client.ts"
import { KEY, runCommand, START_MILLIS } from "../program.ts"
import { attackedProgram } from "./program.ts"

describe("expensive rules of another account", { timeout: START_MILLIS }, () => {
  let folder = ""
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "earshot-test-"))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))
  const program = attackedProgram(() => ({ EARSHOT_DATA_DIR: folder }))

  it("do not make the events of an account more expensive", async () => {
    const { target: mallory, cpuOf } = program()
    const { stdout } = await runCommand("node", ["keys", "create", "--account", "ann", "--json"], {
      EARSHOT_DATA_DIR: folder
    })
    const ann: Target = { ...mallory, key: JSON.parse(stdout).key }
    assert.notStrictEqual(ann.key, KEY)
    await create(ann, "title:word0")
    const send = async () => assert.strictEqual(await matchesOf(ann), 1)
    for (let n = 0; n < 5; n++) await send()
    const alone = await cpuOf(send)
    for (let n = 0; n < 12; n++) {
      await create(mallory, `title:(${Array.from({ length: 300 }, (_, word) => `*x${n}q${word}*`).join(" OR ")})`)
      await create(mallory, `title:(${Array.from({ length: 80 }, (_, word) => `tesla${n}q${word}~2`).join(" OR ")})`)
    }
    // The account gets an engine of its own with its next event.
    await send()
    const attacked = await cpuOf(send)
    // If it depends on the rules of all accounts, it is more than 20 times as much.
    assert.isBelow(attacked, 5 * alone + 0.1, `${alone} s without the rules`)
  })
})

// ---- helpers ----

const create = async (target: Target, filter: string) => {
  const rule = { name: "Test", intent: "Test", platforms: ["firehose"], overrides: { firehose: filter } }
  const { status, body } = await call(target, "/api.CreateRule", rule)
  assert.strictEqual(status, 200, JSON.stringify(body))
}

let sent = 0

/** Sends 20 pages of 400 words. */
const matchesOf = async (target: Target): Promise<number> => {
  const titleOf = (page: number) => Array.from({ length: 400 }, (_, word) => `word${word + page}`).join(" ")
  const pages = Array.from({ length: 20 }, (_, page) => ({
    document: { url: `https://example.com/${++sent}`, title: titleOf(page) }
  }))
  const { status, body } = await call(target, "/local/events", pages)
  assert.strictEqual(status, 200, JSON.stringify(body))
  return Number(body["matches"])
}
