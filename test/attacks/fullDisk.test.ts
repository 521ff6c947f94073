/** One account fills the disk of the embedded store: it is refused first, and everybody is told why at once. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { eventually } from "../eventually.ts"
import { call, draft, type Json, type Target, xPost } from "../gateway/client.ts"
import { KEY, type Running, runCommand, START_MILLIS, startService } from "../program.ts"

const MIB = 1_048_576
const DISK = 160 * MIB

/** The floor is a quarter of the disk, 40 MiB, and nothing is written below 32 MiB. */
const BELOW_FLOOR = 36 * MIB
const NEARLY_NOTHING = 8 * MIB

const disk = mountDisk()
if (disk === undefined) console.log("fullDisk: skipped, because this machine does not allow to mount a file system")

describe.skipIf(disk === undefined)("a full disk", () => {
  const root = disk ?? ""
  const folder = join(root, "data")
  let running: Running | undefined
  const owner = (): Target => targetOf(KEY)
  let small: Target | undefined

  const targetOf = (key: string): Target => {
    if (running === undefined) throw new Error("The program is not running")
    return { url: running.url, host: running.host, port: running.port, key }
  }

  beforeAll(async () => {
    running = await startService("node", { EARSHOT_DATA_DIR: folder, LOG_LEVEL: "info" })
    const { stdout } = await runCommand("node", ["keys", "create", "--account", "small"], { EARSHOT_DATA_DIR: folder })
    small = targetOf(stdout.trim())
    for (const target of [owner(), small]) await call(target, "/api.CreateRule", { ...draft("quake"), ...ON_X })
    for (let n = 0; n < 3; n++) {
      const large = { data: { id: `large${n}`, text: "quake", padding: "p".repeat(900_000) } }
      assert.strictEqual((await call(owner(), "/local/events", large)).status, 200)
    }
    assert.strictEqual((await call(small, "/local/events", xPost("1", "quake"))).status, 200)
  }, START_MILLIS)

  afterAll(async () => {
    await running?.stop()
    execFileSync("umount", ["-l", root])
    rmSync(root, { recursive: true, force: true })
  }, START_MILLIS)

  /** Writes a file that leaves this much free. */
  const leave = (bytes: number) => {
    const { bavail, bsize } = statfsSync(root)
    writeFileSync(join(root, `other${bytes}`), Buffer.alloc(Math.max(0, bavail * bsize - bytes), 1))
  }
  const makeRoom = () => {
    for (const bytes of [BELOW_FLOOR, NEARLY_NOTHING]) rmSync(join(root, `other${bytes}`), { force: true })
  }

  let posts = 1
  const publish = (target: Target) => call(target, "/local/events", xPost(String(++posts), "quake"))

  it("refuses the account that stores the most first, and names the reason", async () => {
    leave(BELOW_FLOOR)
    const refused = await until(() => publish(owner()), 429)
    assert.strictEqual(String(refused.body["code"]), "resource_exhausted")
    assert.strictEqual(String(refused.body["details"]?.["name"]), "disk")
    assert.strictEqual((await publish(mustBe(small))).status, 200)
    assert.strictEqual((await ready()).status, 200)
  })

  it("tells everybody at once that nothing can be stored, and goes on when there is room", {
    timeout: 240_000
  }, async () => {
    leave(NEARLY_NOTHING)
    const notReady = await until(ready, 503)
    assert.strictEqual(String(notReady.body["reason"]), "disk_full")

    const startedAt = performance.now()
    const answers = [
      await publish(mustBe(small)),
      await call(mustBe(small), "/api.CreateRule", { ...draft("storm"), ...ON_X })
    ]
    assert.isBelow(performance.now() - startedAt, 10_000, "milliseconds")
    for (const { status, body } of answers) {
      assert.strictEqual(status, 503)
      assert.match(String(body["message"]), /^The disk of the store is full/)
      assert.notInclude(JSON.stringify(body), root)
    }
    assert.strictEqual((await call(mustBe(small), "/matches", {})).status, 200)

    makeRoom()
    await until(ready, 200)
    for (const target of [owner(), mustBe(small)]) assert.strictEqual((await publish(target)).status, 200)
  })

  it("that is read-only is named by readiness", async () => {
    // Over the folder, because files of the store are open for writing.
    execFileSync("mount", ["--bind", folder, folder])
    execFileSync("mount", ["-o", "remount,bind,ro", folder])
    try {
      const notReady = await until(ready, 503)
      assert.strictEqual(String(notReady.body["reason"]), "read_only")
      assert.match(String((await publish(owner())).body["message"]), /^The disk of the store is read-only/)
    } finally {
      execFileSync("umount", [folder])
    }
    await until(ready, 200)
    assert.strictEqual((await publish(owner())).status, 200)
    // Last: it ends the program.
    const { stderr } = await mustBe(running).stop()
    running = undefined
    assert.include(
      stderr,
      `The disk of the store is full: nothing can be stored until the operator makes room. Its folder is \\"${folder}\\"`
    )
  })

  const ready = async () => {
    const answer = await fetch(`${mustBe(running).url}/health/ready`)
    return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, Json>> }
  }
})

// ---- helpers ----

/** The first answer with this status. */
const until = async <A extends { readonly status: number }>(send: () => Promise<A>, status: number): Promise<A> => {
  let answer: A | undefined
  await eventually(async () => {
    answer = await send()
    assert.strictEqual(answer.status, status)
  })
  return mustBe(answer)
}

const ON_X = { platforms: ["x"], overrides: { x: "quake" } }

function mustBe<A>(value: A | undefined): A {
  if (value === undefined) throw new Error("It is not there")
  return value
}

/** A file system of its own. Undefined if this process may not mount one. */
function mountDisk(): string | undefined {
  const root = mkdtempSync(join(tmpdir(), "earshot-disk-"))
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK}`, "tmpfs", root], { stdio: "ignore" })
    return root
  } catch {
    rmSync(root, { recursive: true, force: true })
    return undefined
  }
}
