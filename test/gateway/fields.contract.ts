/** Invalid fields in a JSON object: the error names the field. */
import { assert, describe, it } from "@effect/vitest"
import { assertError, call, draft, type Target } from "./client.ts"

type Case = readonly [what: string, path: string, body: unknown, message: RegExp]

const CREATE = "/api.CreateRule"
const WAIT = "/matches/wait"
const good = draft("words", ["x"])

const cases: ReadonlyArray<Case> = [
  ["a missing name", CREATE, { ...good, name: undefined }, /"name": Is missing/],
  ["an empty object", CREATE, {}, /"name": Is missing \(and 3 more/],
  ["a name of spaces", CREATE, { ...good, name: " \t\n " }, /"name": Is empty/],
  ["a name of 201 characters", CREATE, { ...good, name: "n".repeat(201) }, /"name": Is too long: 201.*at most 200/],
  ["a name that is a number", CREATE, { ...good, name: 7 }, /"name": Expected a string, got a number/],
  ["a name that is null", CREATE, { ...good, name: null }, /"name": Expected a string, got null/],
  ["a name with a NUL", CREATE, { ...good, name: "a\0b" }, /"name": Contains a NUL/],
  ["a name with half a surrogate pair", CREATE, { ...good, name: "a\ud800" }, /"name": Contains half of a surrogate/],
  ["an intent of 4001 characters", CREATE, { ...good, intent: "i".repeat(4001) }, /"intent": Is too long: 4001/],
  ["no platform", CREATE, { ...good, platforms: [] }, /"platforms": Is empty/],
  ["platforms as text", CREATE, { ...good, platforms: "x" }, /"platforms": Expected an array, got a string/],
  [
    "an unknown platform",
    CREATE,
    { ...good, platforms: ["x", "y"] },
    /"platforms\.1": Expected one of "x", "firehose", got "\w+"/
  ],
  ["a platform in upper case", CREATE, { ...good, platforms: ["X"] }, /"platforms\.0": Expected one of "x"/],
  ["a platform twice", CREATE, { ...good, platforms: ["x", "x"] }, /"platforms": Names "x" more than once/],
  ["a missing override", CREATE, { ...good, overrides: {} }, /"overrides\.x": Is missing/],
  ["overrides as an array", CREATE, { ...good, overrides: ["a"] }, /"overrides": Expected an object, got an array/],
  [
    "an override that is null",
    CREATE,
    { ...good, overrides: { x: null } },
    /"overrides\.x": Expected a string, got null/
  ],
  [
    "an extra override",
    CREATE,
    { ...good, overrides: { x: "word", firehose: "word" } },
    /"overrides\.firehose": "firehose" is not listed in "platforms": add it there, or remove this filter/
  ],
  ["a filter without a word", CREATE, { ...good, overrides: { x: " , " } }, /"overrides\.x": /],
  [
    "a mistyped field",
    CREATE,
    { ...good, platfroms: ["x"] },
    /"platfroms": Is not a known field: did you mean "platforms"\?/
  ],
  ["an unknown field", CREATE, { ...good, zzzzzz: 1 }, /"zzzzzz": .*the fields are name, intent, platforms, overrides/],
  [
    "a platform of one letter",
    CREATE,
    { ...good, overrides: { x: "storm", z: "storm" } },
    /"overrides\.z": Is not a known field: the fields are x, firehose$/
  ],
  ["a missing rule_id", "/api.DeleteRule", {}, /"rule_id": Is missing/],
  ["a rule_id that is a number", "/api.DeleteRule", { rule_id: 1 }, /"rule_id": Expected a string/],
  ["ruleId for rule_id", "/api.DeleteRule", { ruleId: "a" }, /"(rule_id|ruleId)": /],
  [
    "an unknown scope",
    "/keys/create",
    { name: "a", scope: "root" },
    /"scope": Expected one of "read", "write", "admin", got "root"$/
  ],
  [
    "an unknown event of a webhook",
    "/webhooks/create",
    { url: "https://example.com/", events: ["foo"] },
    /"events\.0": Expected one of "match", "match\.redacted", "coverage\.gap", got "foo"$/
  ],
  ["limit 0", "/matches", { limit: 0 }, /"limit": Expected a whole number from 1 to 500, got 0/],
  ["limit 501", "/matches", { limit: 501 }, /"limit": Expected a whole number from 1 to 500/],
  ["limit 1.5", "/matches", { limit: 1.5 }, /"limit": Expected a whole number/],
  ['limit "5"', "/matches", { limit: "5" }, /"limit": Expected a whole number from 1 to 500, got "5"/],
  ["limit null", "/matches", { limit: null }, /"limit": Expected a whole number from 1 to 500, got null/],
  ["limit true", "/matches", { limit: true }, /"limit": Expected a whole number from 1 to 500, got true/],
  ["an unknown platform", "/matches", { platform: "y" }, /"platform": Expected one of "x", "firehose"/],
  ["an invalid cursor", "/matches", { cursor: "abc" }, /"cursor": Expected the next_cursor/],
  ["a rule's id as cursor", "/matches", { cursor: `rule_${"0".repeat(26)}` }, /"cursor": Expected the next_cursor/],
  ["a cursor that is a number", "/matches", { cursor: 1 }, /"cursor": /],
  ["limits for limit", "/matches", { limits: 5 }, /"limits": .*did you mean "limit"/],
  ["timeout_seconds 0", WAIT, { timeout_seconds: 0 }, /"timeout_seconds": Expected a whole number from 1 to 55/],
  ["timeout_seconds 56", WAIT, { timeout_seconds: 56 }, /"timeout_seconds": Expected a whole number from 1 to 55/],
  ["timeout for timeout_seconds", WAIT, { timeout: 5 }, /"timeout": Is not a known field/],
  ["limit 101", WAIT, { limit: 101 }, /"limit": Expected a whole number from 1 to 100/],
  ["an invalid cursor", WAIT, { cursor: "abc" }, /"cursor": Expected the cursor of an earlier response/],
  ["an unknown platform", "/platforms/syntax", { platforms: ["mastodon"] }, /"platforms\.0": Expected one of "x"/],
  ["platforms null", "/platforms/syntax", { platforms: null }, /"platforms": Expected an array, got null/]
]

export const fieldsContract = (target: () => Target): void => {
  describe("an invalid field", () => {
    for (const [what, path, body, message] of cases) {
      it(`${path} refuses ${what}`, async () => {
        const answer = await call(target(), path, body)
        assertError(answer, 400, "invalid_argument", message)
        const issues = [...(answer.body["details"]?.["issues"] ?? [])]
        assert.isNotEmpty(issues)
        for (const issue of issues) assert.containsAllKeys(issue, ["path", "message"])
      })
    }

    it("a filter error has a span, the expected tokens and a fix", async () => {
      const answer = await call(target(), CREATE, { ...good, overrides: { x: "storm AND flood" } })
      assertError(answer, 400, "invalid_argument", /"overrides\.x": Ambiguous use of "AND"/)
      const [issue] = [...(answer.body["details"]?.["issues"] ?? [])]
      assert.deepStrictEqual(issue?.["span"] as unknown, { start: 6, end: 9 })
      assert.isNotEmpty(issue?.["expected"])
      assert.strictEqual(String(issue?.["fix"]?.["text"]), "storm flood")
    })

    it("a suspicious filter is created with a warning", async () => {
      const rule = { ...good, platforms: ["firehose"], overrides: { firehose: "tesla and recall" } }
      const { status, body } = await call(target(), CREATE, rule)
      const [warning] = [...(body["platforms"]?.["firehose"]?.["warnings"] ?? [])]
      assert.deepStrictEqual([status, String(warning?.["severity"])], [200, "warning"])
      assert.isNotEmpty(String(warning?.["fix"]?.["text"]))
      await call(target(), "/api.DeleteRule", { rule_id: body["rule_id"] })
    })

    it("a missing filter comes with a translation of the other one", async () => {
      const both = { ...good, platforms: ["x", "firehose"], overrides: { x: "storm from:nasa" } }
      const answer = await call(target(), CREATE, both)
      assertError(answer, 400, "invalid_argument", /"overrides\.firehose": Is missing/)
      const suggestion = [...(answer.body["details"]?.["issues"] ?? [])][0]?.["suggestion"]
      assert.deepStrictEqual([String(suggestion?.["text"]), String(suggestion?.["fidelity"])], ["storm", "wider"])
      const [, account] = [...(suggestion?.["clauses"] ?? [])]
      const [witness] = [...(account?.["witnesses"] ?? [])]
      assert.strictEqual(String(witness?.["matched_by"]), "firehose")
      assert.strictEqual(String(witness?.["events"]?.["x"]?.["data"]?.["text"]), "storm")
    })

    it("details.issues lists all invalid fields", async () => {
      const answer = await call(target(), "/api.CreateRule", { ...good, name: "", intent: 3, extra: true })
      const paths = [...(answer.body["details"]?.["issues"] ?? [])].map((issue) => String(issue["path"]))
      assert.sameMembers(paths, ["name", "intent", "extra"])
    })

    it('"__proto__" and "constructor" are refused like other unknown fields', async () => {
      const send = (body: string) =>
        call(target(), "/api.CreateRule", undefined, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body
        })
      const fields = '"name":"n","intent":"i","platforms":["x"]'
      for (const name of ["__proto__", "constructor", "toString"]) {
        const field = await send(`{${fields},"overrides":{"x":"word"},"${name}":{}}`)
        assertError(field, 400, "invalid_argument", new RegExp(name))
        const override = await send(`{${fields},"overrides":{"x":"word","${name}":"b"}}`)
        assertError(override, 400, "invalid_argument", new RegExp(`overrides\\.${name}`))
      }
    })

    it("GET /api.ListRules refuses unknown query parameters", async () => {
      assertError(
        await call(target(), "/api.ListRules?colour=red"),
        400,
        "invalid_argument",
        /"colour": Is not a known field/
      )
      assert.strictEqual((await call(target(), "/api.ListRules?")).status, 200)
    })

    it("GET /api.ListRules says what a number must be, and shows the value", async () => {
      for (const value of ["abc", "", "1e2", "0", "101", "-1"]) {
        const shown = /^-?\d+$/.test(value) ? value : `"${value}"`
        const message = new RegExp(`"limit": Expected a whole number from 1 to 100, got ${shown}$`)
        assertError(await call(target(), `/api.ListRules?limit=${value}`), 400, "invalid_argument", message)
      }
    })

    it("an unknown or malformed rule id is not found", async () => {
      for (const rule_id of ["", "abc", `rule_${"0".repeat(26)}`, `match_${"0".repeat(26)}`, "../../etc", "💥", "\0"]) {
        for (const path of ["/api.DeleteRule", "/matches"]) {
          const answer = await call(target(), path, { rule_id })
          assertError(answer, 404, "not_found", /^Cannot find rule/)
          assert.deepStrictEqual(answer.body["details"] as unknown, { rule_id })
        }
      }
    })

    it("the id of another kind is named as such", async () => {
      const other = `match_${"0".repeat(26)}`
      const rule = await call(target(), "/api.DeleteRule", { rule_id: other })
      assert.strictEqual(rule.body["message"] as unknown, `Cannot find rule "${other}": this is the id of a match`)
      const webhook = await call(target(), "/webhooks/delete", { webhook_id: "key_1" })
      assert.strictEqual(webhook.body["message"] as unknown, 'Cannot find webhook "key_1": this is the id of a key')
      const match = await call(target(), "/matches/explain", { match_id: "webhook_1" })
      assert.strictEqual(match.body["message"] as unknown, 'Cannot find match "webhook_1": this is the id of a webhook')
    })

    it("values at the limit are accepted", async () => {
      const created = await call(target(), "/api.CreateRule", {
        ...draft("limit"),
        name: ` ${"n".repeat(200)} `,
        intent: "i".repeat(4000)
      })
      assert.strictEqual(created.status, 200)
      for (const limit of [1, 500]) assert.strictEqual((await call(target(), "/matches", { limit })).status, 200)
      await call(target(), "/api.DeleteRule", { rule_id: created.body["rule_id"] })
    })
  })
}
