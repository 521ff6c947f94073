/** Another user of the machine reads or changes the store: webhook secrets are in its files. */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { call, xPost } from "../gateway/client.ts"
import { sized } from "../long.ts"
import { KEY, RUNTIMES, START_MILLIS, startService } from "../program.ts"

/** The first protects nothing by itself. */
const UMASKS = sized(["000"], ["000", "022", "077"])

const root = mkdtempSync(join(tmpdir(), "earshot-permissions-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

describe("the files of the embedded store", { timeout: 3 * START_MILLIS }, () => {
  for (const runtime of RUNTIMES) {
    for (const umask of UMASKS) {
      it(`are open to their owner only, on ${runtime} with umask ${umask}`, async () => {
        const dataDir = join(root, `${runtime}-${umask}`)
        const service = await startService(runtime, { EARSHOT_DATA_DIR: dataDir }, { umask })
        const started = modesIn(dataDir)
        assert.includeMembers(started, ["700 d .", "700 d pg", "700 d operator", "600 s operator/sock"])
        assert.lengthOf(
          started.filter((line) => /^600 s lock-/.test(line)),
          1
        )
        assert.deepStrictEqual(started.filter(isOpenToOthers), [])

        const target = { ...service, key: KEY }
        const overrides = { x: "storm" }
        await call(target, "/api.CreateRule", { name: "Storms", intent: "Hear of storms", platforms: ["x"], overrides })
        const posts = Array.from({ length: 200 }, (_, index) => xPost(`s${index}`, `storm ${"wind ".repeat(200)}`))
        assert.strictEqual((await call(target, "/local/events", posts)).status, 200)
        assert.deepStrictEqual(modesIn(dataDir).filter(isOpenToOthers), [])

        const { stderr } = await service.stop()
        assert.notInclude(stderr, "chmod")
        assert.deepStrictEqual(modesIn(dataDir).filter(isOpenToOthers), [])
      })
    }

    it(`are reported at the start, and not changed, if others may access the folder, on ${runtime}`, async () => {
      const dataDir = mkdtempSync(join(root, "open-"))
      chmodSync(dataDir, 0o755)
      const service = await startService(runtime, { EARSHOT_DATA_DIR: dataDir })
      const { stderr } = await service.stop()
      const warning = stderr.split("\n").find((line) => line.includes("chmod")) ?? ""
      assert.deepInclude(JSON.parse(warning), {
        level: "warn",
        message: `Other users of this machine may access the store in "${dataDir}" (mode 755), which holds secrets: run chmod -R go-rwx '${dataDir}'`
      })
      assert.deepStrictEqual(modesIn(dataDir).filter(isOpenToOthers), ["755 d ."])
    })
  }
})

// ---- helpers ----

/** Mode, kind and relative path of the folder and everything in it. */
const modesIn = (folder: string): Array<string> =>
  [".", ...readdirSync(folder, { recursive: true, encoding: "utf8" })].flatMap((name) => {
    // A running server deletes files.
    const found = statSync(join(folder, name), { throwIfNoEntry: false })
    if (found === undefined) return []
    const kind = found.isDirectory() ? "d" : found.isSocket() ? "s" : "f"
    return [`${(found.mode & 0o777).toString(8)} ${kind} ${name}`]
  })

const isOpenToOthers = (line: string): boolean => !/^(700 d|600 [fs]) /.test(line)
