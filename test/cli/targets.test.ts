/** `earshot rules` and `earshot matches` end to end, with the same results on a server and on the local store. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { call, xPost } from "../gateway/client.ts"
import { isLong, sized } from "../long.ts"
import {
  KEY,
  OTHER_RUNTIME,
  RUNTIMES,
  type Served,
  type RuntimeName,
  runCommand,
  runInProcess,
  START_MILLIS,
  serveInProcess,
  startCommand
} from "../program.ts"
import { HAS_TERMINAL, runInTerminal } from "../terminal.ts"

const folder = mkdtempSync(join(tmpdir(), "earshot-targets-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const CREATE = ["rules", "create", "--name", "Storms", "--intent", "Hear of storms"]

/** Tests for both targets. On the local store each command opens the store, so the short form only has the first. */
const testCommands = (run: (...args: ReadonlyArray<string>) => ReturnType<typeof runCommand>, isShort = false) => {
  it("creates a rule, lists it and deletes it", async () => {
    const created = await run(...CREATE, "--x", "storm  -is:retweet", "--firehose=storm")
    assert.deepStrictEqual([created.code, created.stderr], [0, ""])
    const [id = "", ...rows] = created.stdout.trimEnd().split("\n")
    assert.match(id, /^rule_[0-9a-z]{26}$/)
    assert.deepStrictEqual(rows, ["  x         storm -is:retweet", "  firehose  storm"])

    const listed = await run("rules", "list")
    assert.match(
      listed.stdout,
      new RegExp(
        `^${id}  Storms\n  Hear of storms\n  Created 20\\S+Z, version 1\n  x         active  storm -is:retweet\n  firehose  active  storm\n`
      )
    )
    const json = await run("rules", "list", "--json")
    assert.strictEqual(JSON.parse(json.stdout).rules[0].id, id)

    const deleted = await run("rules", "delete", "rule_nobody", id)
    assert.deepStrictEqual(deleted, {
      code: 1,
      stdout: `Deleted ${id}\n`,
      stderr: 'earshot: Cannot find rule "rule_nobody"\n'
    })
    const again = await run("rules", "delete", "--json", id)
    assert.deepStrictEqual([again.code, JSON.parse(again.stdout)], [1, { deleted: [] }])
    assert.deepInclude(JSON.parse(again.stderr), { code: "not_found", details: { rule_id: id } })
  })
  if (isShort) return

  it("compares a filter, lists by activity, previews a deletion and shows a match", async () => {
    const ids: Array<string> = []
    for (const filter of ["gale", "gale OR breeze"]) {
      ids.push((await run(...CREATE, "--x", filter)).stdout.slice(0, 31))
    }
    const [gale = "", both = ""] = ids
    const compared = await run("rules", "compare-filter", both, "--x", "gale")
    assert.deepStrictEqual([compared.code, compared.stderr], [0, ""])
    assert.match(
      compared.stdout,
      /^On x\n {2}kept {4}\d+, of them \d+ stored match(es)?\n {2}lost {4}\d+[\s\S]*\n {2}gained {2}0\n {2}tested {2}\d+ stored/
    )
    const wrong = await run("rules", "compare-filter", both, "--x", "gale AND breeze")
    assert.match(wrong.stderr, /^On x\nerror: /)
    const listed = await run("rules", "list", "--activity", "--query", "breeze")
    assert.match(listed.stdout, new RegExp(`^${both}  Storms\n[^]*\n  (No stored match|Last match )`))
    assert.notInclude(listed.stdout, gale)
    assert.match(
      (await run("rules", "list", "--quiet-for", "week")).stderr,
      /--quiet-for: expected a number of minutes/
    )
    const page = await run("rules", "list", "--limit", "1")
    assert.match(page.stdout, new RegExp(`^${both}  Storms\n`))
    assert.notInclude(page.stdout, gale)
    assert.strictEqual(page.stderr, `More with --cursor ${both}\n`)
    const json = JSON.parse((await run("rules", "list", "--limit", "1", "--json")).stdout)
    assert.deepStrictEqual([json.rules.length, json.next_cursor], [1, both])
    const rest = await run("rules", "list", "--cursor", both)
    assert.match(rest.stdout, new RegExp(`^${gale}  Storms\n`))
    assert.notInclude(rest.stdout, both)
    assert.strictEqual(rest.stderr, "")
    const wrongCursor = await run("rules", "list", "--cursor", "1")
    assert.match(wrongCursor.stderr, /--cursor: expected the id of a rule/)
    const sorted = await run("rules", "list", "--sort", "last_match", "--cursor", both)
    assert.match(sorted.stderr, /^earshot: --cursor: leave it out/)
    const preview = await run("rules", "delete", "--preview", gale, both, "rule_nobody")
    assert.match(preview.stdout, new RegExp(`^${gale}  Storms  \\d+ match(es)?\n${both}  Storms  \\d+ match(es)?\n$`))
    assert.match(preview.stderr, /Cannot find rule rule_nobody\nNothing was deleted\n$/)
    const shown = await run("matches", "show", "match_nobody")
    assert.deepStrictEqual([shown.code, shown.stdout], [1, ""])
    assert.match(shown.stderr, /match_nobody/)
    assert.strictEqual((await run("rules", "delete", gale, both)).code, 0)
  })

  it("rules create draws the issues of filters as check does, and creates nothing", async () => {
    const wrong = await run(...CREATE, "--x", "storm AND (flood", "--firehose", 'storm"')
    assert.deepStrictEqual([wrong.code, wrong.stdout], [1, ""])
    assert.match(
      wrong.stderr,
      /^On x\nerror: Ambiguous use of "AND".*\n {2}\|\n {2}\| storm AND \(flood\n {2}\| {7}\^\^\^\n/
    )
    assert.match(wrong.stderr, /\n\nOn firehose\nerror: /)
    assert.lengthOf(wrong.stderr.match(/^On x$/gm) ?? [], 1)

    const json = await run(...CREATE, "--json", "--x", "storm AND flood")
    assert.deepStrictEqual([json.code, json.stdout], [1, ""])
    assert.deepInclude(JSON.parse(json.stderr).details.issues[0], { path: "overrides.x", span: { start: 6, end: 9 } })

    const warned = await run(...CREATE, "--firehose", "storm AND flood OR rain")
    assert.strictEqual(warned.code, 0)
    assert.match(warned.stdout, /^rule_\w+\n {2}firehose {2}\+storm/)
    assert.match(warned.stderr, /^\nOn firehose\nwarning: /)
    await run("rules", "delete", warned.stdout.split("\n")[0] ?? "")
  })

  it("rules update says that there is nothing to change", async () => {
    const created = await run(...CREATE, "--x", "gale")
    const [id = ""] = created.stdout.split("\n")
    assert.deepStrictEqual(await run("rules", "update", id), {
      code: 2,
      stdout: "",
      stderr: "earshot: Nothing to change: pass at least one of --name, --intent, --x, --firehose\n"
    })
    const same = await run("rules", "update", id, "--x", "gale", "--name", "Storms")
    assert.deepStrictEqual([same.code, same.stderr], [0, "Nothing changed: the rule already has these values\n"])
    const renamed = await run("rules", "update", id, "--name", "Gales")
    assert.deepStrictEqual([renamed.code, renamed.stderr], [0, ""])
    const wrong = await run("rules", "update", id, "--name", " ")
    assert.match(wrong.stderr, /^error: --name: /)
    await run("rules", "delete", id)
  })

  it("rules create with the same idempotency key creates one rule", async () => {
    const keyed = [...CREATE, "--idempotency-key", "once", "--x"]
    const first = await run(...keyed, "hail")
    assert.strictEqual(first.code, 0, first.stderr)
    assert.deepStrictEqual(await run(...keyed, "hail"), first)
    const other = await run(...keyed, "snow")
    assert.strictEqual(other.code, 1)
    assert.match(other.stderr, /The idempotency key "once" was used before with another request/)
    const [id = ""] = first.stdout.split("\n")
    assert.strictEqual((await run("rules", "delete", id)).code, 0)
  })

  it("matches prints that there are none, and fails for an unknown rule", async () => {
    const { code, stdout, stderr } = await run("matches", "--platform", "x")
    assert.deepStrictEqual([code, stdout], [0, ""])
    assert.match(stderr, /^No matches\n/)
    const missing = await run("matches", "--rule", "rule_nobody")
    assert.deepStrictEqual([missing.code, missing.stderr], [1, 'earshot: Cannot find rule "rule_nobody"\n'])
    const json = await run("matches", "--json", "--cursor", "nonsense")
    assert.strictEqual(json.code, 2)
    assert.deepInclude(JSON.parse(json.stderr), { code: "invalid_argument" })
  })
}

describe("on a server", { timeout: 2 * START_MILLIS }, () => {
  let service: Served | undefined
  const client = () => ({ EARSHOT_URL: service?.url, EARSHOT_API_KEY: KEY })
  const target = () => ({ url: "", host: "", port: 0, ...service, key: KEY })
  const run = (...args: ReadonlyArray<string>) => runInProcess(args, client())
  beforeAll(async () => {
    service = await serveInProcess()
  }, START_MILLIS)
  afterAll(async () => void (await service?.stop()), START_MILLIS)

  testCommands(run)

  it("reads a filter from standard input", async () => {
    const creating = startCommand(OTHER_RUNTIME, [...CREATE, "--x", "-"], client())
    creating.stdin.end('"flash flood"\n')
    const { code, stdout, stderr } = await creating.ended
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, /\n {2}x {9}"flash flood"\n$/)
    await run("rules", "delete", stdout.split("\n")[0] ?? "")
  })

  it("rejects wrong arguments with one line and exit code 2", async () => {
    const wrong: ReadonlyArray<readonly [args: ReadonlyArray<string>, message: RegExp]> = [
      [CREATE, /No filter: pass at least one of --x, --firehose/],
      [[...CREATE, "--x", "-", "--firehose", "-"], /Only one of the filters can come from standard input/],
      [["rules", "create", "--x", "storm"], /--name/],
      [["rules", "list", "--account", "default"], /--account is for the local store only/],
      [["rules", "delete"], /rule-id/],
      [["matches", "--limit", "0"], /Expected --limit to be a whole number from 1 to 500/],
      [["matches", "--limit", "abc"], /Expected --limit to be a whole number from 1 to 500/],
      [["matches", "--platform", "y"], /--platform: expected x or firehose, not "y"/],
      [["keys", "create", "--expires", "tomorrow"], /Expected --expires to be a date such as .* or a time such as /],
      [["keys", "create", "--expires", "2027-02-30"], /--expires: The day 2027-02-30 does not exist/],
      [["keys", "create", "--expires", "2020-01-01"], /Expected --expires to be in the future/],
      [["accounts", "limit", "acme", "rules.x", "-5"], /Expected <number>, not "-5": New limit; 0 for no limit/],
      [["accounts", "limit", "acme", "rules.x", "many"], /Expected <number> to be a whole number, 0 for no limit, or/],
      [["matches", "--follow", "--limit", "3"], /--limit cannot be combined with --follow/]
    ]
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = await runInProcess(args, client())
      assert.deepStrictEqual([code, stdout], [2, ""], args.join(" "))
      assert.match(stderr, message)
      assert.lengthOf(stderr.trim().split("\n"), 1, stderr)
    }
  })

  it("fails with advice without a key, with a wrong key and without a server", async () => {
    const keyless = await runInProcess(["rules", "list"], { EARSHOT_URL: service?.url })
    assert.match(keyless.stderr, /^earshot: No API key: set EARSHOT_API_KEY .*earshot keys create/)
    const refused = await runInProcess(["rules", "list", "--json"], {
      ...client(),
      EARSHOT_API_KEY: "of-nobody-at-all"
    })
    assert.deepStrictEqual([refused.code, JSON.parse(refused.stderr).code], [1, "unauthenticated"])
    const away = await runInProcess(["rules", "list", "--json", "--url", "http://127.0.0.1:1"], client())
    assert.deepInclude(JSON.parse(away.stderr), { code: "unavailable", details: {} })
  })

  it("matches lists newest first, in pages, and as JSON", async () => {
    const created = await run(...CREATE, "--x", "gale")
    for (const id of ["g1", "g2", "g3"]) await call(target(), "/local/events", [xPost(id, `gale\nof ${id}`)])
    const page = await run("matches", "--limit", "2")
    assert.match(page.stdout, /^20\S+Z {2}x {9}Storms {2}gale\n20\S+Z {2}x {9}Storms {2}gale\n$/)
    const cursor = /^More with --cursor (match_\w+)$/m.exec(page.stderr)?.[1] ?? ""
    const rest = await run("matches", "--limit", "2", "--cursor", cursor, "--json")
    const { matches, coverage } = JSON.parse(rest.stdout)
    assert.deepStrictEqual(
      matches.map((match: { platform_post_id: string }) => match.platform_post_id),
      ["g1"]
    )
    assert.property(coverage, "platforms")
    await run("rules", "delete", created.stdout.split("\n")[0] ?? "")
  })

  for (const runtime of RUNTIMES) {
    it(`prints everything into a pipe that is read late, on ${runtime}`, async () => {
      const created = await run(...CREATE, "--x", "deluge")
      await call(target(), "/local/events", [xPost("large", `deluge ${"and more ".repeat(100_000)}`)])
      const listing = startCommand(runtime, ["matches", "--limit", "1", "--json"], client())
      listing.stdout.pause()
      await sleep(2_000)
      listing.stdout.resume()
      const { code, stdout } = await listing.ended
      assert.strictEqual(code, 0)
      assert.isAbove(JSON.parse(stdout).matches[0].payload.data.text.length, 900_000)
      await run("rules", "delete", created.stdout.split("\n")[0] ?? "")
    })
  }

  it("matches shows control characters as placeholders, in a pipe and on a terminal", async () => {
    const created = await run("rules", "create", "--name", "N\u202eame \u001b[2J", "--intent", "i", "--x", "hostile")
    const text =
      "\n \r\nhostile \u001b[31mred\u001b]0;title\u0007 \u009b2J \u202egnp.exe\u2066 \u200bzero\u{e0041}\u{e0042} 漢字 🙂 tail"
    await call(target(), "/local/events", [xPost("h1", text)])
    const { stdout } = await run("matches", "--limit", "1")
    const line = stdout.trimEnd()
    assert.match(line, /Storms|N�ame ␛\[2J/)
    assert.include(line, "hostile ␛[31mred␛]0;title␇ �2J �gnp.exe� �zero�� 漢字 🙂 tail")
    assert.notMatch(stdout.slice(0, -1), HIDDEN)

    const json = await run("matches", "--limit", "1", "--json")
    assert.strictEqual(JSON.parse(json.stdout).matches[0].payload.data.text, text)
    assert.notInclude(json.stdout, "\u001b")

    if (!HAS_TERMINAL) return
    const settings = { EARSHOT_URL: service?.url ?? "", EARSHOT_API_KEY: KEY }
    for (const columns of sized([60], [40, 60, 200])) {
      const [seen = ""] = (await runInTerminal(["matches", "--limit", "1"], { columns, settings })).split("\n")
      assert.match(seen, COLOURED_TIME)
      const plain = seen.replace(COLOURED_TIME, "$1")
      assert.notMatch(plain, HIDDEN)
      // Two characters and the emoji are two columns wide.
      assert.isAtMost(plain.length + (columns === 200 ? 2 : 0), columns)
      if (columns < 200) assert.match(plain, /…$/)
      else assert.match(plain, /漢字 🙂 tail$/)
    }
    if (isLong) {
      const without = await runInTerminal(["matches", "--limit", "1"], {
        columns: 80,
        settings: { ...settings, NO_COLOR: "1" }
      })
      assert.notInclude(without, "\u001b")
    }
    await run("rules", "delete", created.stdout.split("\n")[0] ?? "")
  })

  it.skipIf(!HAS_TERMINAL)("--help uses colours and the width of a terminal, unless NO_COLOR is set", async () => {
    const seen = await runInTerminal(["matches", "--help"], { columns: 50, settings: {} })
    assert.include(seen, "\u001b[1mOptions\u001b[22m")
    for (const line of seen.split("\n").filter((one) => !one.includes("--"))) assert.isAtMost(line.length, 60, line)
    assert.notInclude(
      await runInTerminal(["matches", "--help"], { columns: 50, settings: { NO_COLOR: "1" } }),
      "\u001b"
    )
  })
})

describe("on the local store", { timeout: 2 * START_MILLIS }, () => {
  const local = { EARSHOT_DATA_DIR: folder, LOG_LEVEL: "warning" }
  const on = (runtime: RuntimeName, ...args: ReadonlyArray<string>) =>
    isLong ? runCommand(runtime, args, local) : run(...args)
  const run = (...args: ReadonlyArray<string>) => runInProcess(args, local)
  beforeAll(async () => void (await run("keys", "create")), START_MILLIS)

  testCommands(run, !isLong)

  it("works on both runtimes with --account, and hides other accounts", async () => {
    await run("keys", "create", "--account", "team")
    const created = await on(OTHER_RUNTIME, ...CREATE, "--x", "breeze", "--account", "team")
    assert.strictEqual(created.code, 0, created.stderr)
    const id = created.stdout.split("\n")[0] ?? ""
    assert.strictEqual((await run("rules", "list", "--account", "team")).stdout.slice(0, id.length), id)
    assert.match((await run("rules", "list")).stderr, /^No rules yet. Create one with: earshot rules create\n$/)
    assert.match((await run("rules", "delete", id)).stderr, /Cannot find rule/)
    const unknown = await run("matches", "--account", "nobody")
    assert.strictEqual(unknown.code, 1)
    assert.match(
      unknown.stderr,
      /^earshot: Cannot find account "nobody": there are "default", "team"; create it with: earshot keys create --account/
    )
  })

  it("matches prints that nothing was watched, and --follow fails", async () => {
    const { stderr } = await run("matches")
    assert.strictEqual(stderr, "No matches\nNot watched: there are no rules\n")
    const followed = await run("matches", "--follow")
    assert.strictEqual(followed.code, 1)
    assert.match(followed.stderr, /^earshot: Cannot follow a store without a server/)
  })

  it("goes through the server that uses the store, on both runtimes", async () => {
    const service = await serveInProcess(local)
    for (const runtime of RUNTIMES) {
      const created = await on(runtime, ...CREATE, "--x", "squall")
      assert.strictEqual(created.code, 0, created.stderr)
      const id = created.stdout.split("\n")[0] ?? ""
      const target = { ...service, key: KEY }
      assert.include(JSON.stringify((await call(target, "/api.ListRules")).body), id)
      const following = startCommand(runtime, ["matches", "--follow"], local)
      let isPrinted = false
      const printed = following.printed(/a squall\n/).then(() => {
        isPrinted = true
      })
      // It prints nothing when the stream opens, so events are sent until one arrives.
      for (let count = 0; !isPrinted; count++) {
        await call(target, "/local/events", [xPost(`${runtime}${count}`, "a squall")])
        await Promise.race([printed, new Promise((resume) => setTimeout(resume, 300))])
      }
      following.signal("SIGINT")
      await following.ended
      assert.strictEqual((await on(runtime, "rules", "delete", id)).stdout, `Deleted ${id}\n`)
    }
    await service.stop()
  })

  it("rules list fails without a store and creates none", async () => {
    const nowhere = join(folder, "nowhere")
    const { code, stderr } = await runInProcess(["rules", "list"], { EARSHOT_DATA_DIR: nowhere })
    assert.strictEqual(code, 1)
    assert.match(stderr, /^earshot: Cannot open the store at ".*nowhere": there is no store. Start the service once/)
  })

  it("matches and keys list say so if the data folder is a file, and leave it", async () => {
    const file = join(folder, "file")
    writeFileSync(file, "a file")
    for (const command of [["matches"], ["keys", "list"]]) {
      const { code, stdout, stderr } = await runInProcess(command, { EARSHOT_DATA_DIR: file })
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(
        stderr,
        /^earshot: Cannot open the store at ".*file": it is a file. .*set EARSHOT_DATA_DIR to the folder/i
      )
    }
    assert.strictEqual(readFileSync(file, "utf8"), "a file")
  })
})

// ---- helpers ----

/** Control and invisible characters. */
const HIDDEN =
  /\p{Cc}|\p{Zl}|\p{Zp}|[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e0fff}]/u

// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for colours
const COLOURED_TIME = /^\u001b\[2m(20\S+Z)\u001b\[22m/
