/** `earshot platforms` end to end, against the simulator, with valid and invalid tokens. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Simulator from "../../simulator/Simulator.ts"
import { serve } from "../../simulator/server.ts"
import { KEY, runInProcess, type Served, serveInProcess } from "../program.ts"
import { temporaryFolder } from "../stores.ts"

const WRONG = "an-unknown-token-for-this-test"

describe("earshot platforms", () => {
  it.scopedLive("shows both platforms in process", () =>
    Effect.gen(function* () {
      const service = yield* started({})
      const { code, stdout, stderr } = yield* platforms(service)
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^x {2}live \(in process\) since 20\d\d-.*\n {2}Runs in this process/)
      assert.match(stdout, /\n\nfirehose {2}live \(in process\)/)
      assert.match(stdout, /Rules: 0, checked at 20/)
      assert.match(stdout, /Watched: since 20.*; no gap in the last 24 hours/)
      assert.match(stdout, /Last event: none since startup/)
    })
  )

  it.scopedLive("says that events are made up", () =>
    Effect.gen(function* () {
      const service = yield* started({ EARSHOT_DEMO_FEED: "on" })
      assert.match((yield* platforms(service)).stdout, /on made-up events of the demo feed/)
      const { stdout } = yield* platforms(service, "--json")
      assert.include(stdout, '"demo_feed"')
    })
  )

  it.scopedLive("shows a rejected token without its value, while the other platform works", () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator.make({ seed: 1 })
      const url = `http://127.0.0.1:${yield* serve(simulator, { host: "127.0.0.1", port: 0 })}`
      const service = yield* started({
        X_BASE_URL: url,
        X_BEARER_TOKEN: WRONG,
        FIREHOSE_BASE_URL: url,
        FIREHOSE_TAP_TOKEN: simulator.control.settings.firehose.tap_token
      })

      const refused = yield* create(service, "x")
      assert.deepInclude(refused, { status: 400 })
      assert.deepInclude(refused.body, { code: "failed_precondition" })
      assert.match(String(refused.body["message"]), /X_BEARER_TOKEN/)
      assert.deepInclude(refused.body["details"], { platform: "x" })
      assert.property(refused.body["details"], "upstream")
      assert.strictEqual((yield* create(service, "firehose")).status, 200)

      const shown = yield* platforms(service)
      assert.match(
        shown.stdout,
        /^x {2}refused since .*\n {2}Platform "x" denies access to this server: .*X_BEARER_TOKEN/
      )
      assert.include(shown.stdout, `\n  Connected to ${url}, not to the platform's own service\n`)
      assert.match(shown.stdout, /\nfirehose {2}(live|connecting) since .*\n(?: {2}.*\n)* {2}Rules: 1[ ,]/)

      const live = yield* Effect.repeat(Effect.delay(platforms(service), "100 millis"), {
        until: ({ stdout }) => /\nfirehose {2}live/.test(stdout)
      })
      assert.match(
        live.stdout,
        /\nfirehose {2}live[\s\S]*1 gap in the last 24 hours, 1 while there were no rules, 0 not recovered;/
      )

      const json = yield* platforms(service, "--json")
      const [x, firehose] = JSON.parse(json.stdout).platforms
      assert.deepInclude(x, { platform: "x", source: "upstream" })
      assert.match(x.summary, /X_BEARER_TOKEN/)
      assert.deepInclude(firehose.rules, { wanted: 1 })

      const { stdout, stderr } = yield* Effect.promise(() => service.stop())
      assert.notInclude(stdout + stderr + shown.stdout + json.stdout + JSON.stringify(refused.body), WRONG)
      assert.include(stdout, `Platform x: connects to ${url};`)
      assert.include(stdout, `Platform firehose: connects to ${url};`)
      assert.match(stdout, /Demo feed: off/)
    })
  )

  it.scopedLive(
    "shows the posts of the month, the budget and paused rules to an account, and all shares to the operator",
    () =>
      Effect.gen(function* () {
        const simulator = yield* Simulator.make({ seed: 1 })
        const url = `http://127.0.0.1:${yield* serve(simulator, { host: "127.0.0.1", port: 0 })}`
        const EARSHOT_DATA_DIR = yield* temporaryFolder
        const settings = {
          EARSHOT_DATA_DIR,
          X_BASE_URL: url,
          X_BEARER_TOKEN: simulator.control.settings.x.bearer_token,
          X_PRICE_PER_POST: "0.5"
        }
        const service = yield* started({ ...settings, X_MONTHLY_POST_BUDGET: "4" })
        assert.strictEqual((yield* create(service, "x")).status, 200)
        const untilShown = (pattern: RegExp, by = service) =>
          Effect.repeat(Effect.delay(platforms(by), "100 millis"), { until: ({ stdout }) => pattern.test(stdout) })
        yield* untilShown(/^x {2}live/)
        yield* simulator.control.publish(
          [1, 2, 3, 4].map((id) => ({ data: { id: String(id), text: "A storm", lang: "en", author_id: "7" } }))
        )

        const seen = yield* untilShown(/1 rule paused/)
        assert.match(
          seen.stdout,
          /\n {2}Posts in 20\d\d-\d\d: 4 for the rules of this account, \$2\.00 at \$0\.5 each\n/
        )
        assert.match(seen.stdout, /\n {2}Budget: warning: 100 % of the monthly budget of 4 posts used, 1 rule paused\n/)
        assert.notInclude(seen.stdout, "acct_")
        assert.match(seen.stdout, /\n {2}Events in this billing period: \d+ of \d+, as reported by x at 20\S+Z\n/)
        const operators = yield* Effect.promise(() => runInProcess(["platforms"], { EARSHOT_DATA_DIR }))
        assert.match(operators.stdout, /\n {2}Posts in 20\d\d-\d\d: 4, \$2\.00 at \$0\.5 each\n/, operators.stderr)
        assert.match(operators.stdout, /\n {4}default {2}4, \$2\.00\n/)

        const reason = /^paused: the monthly budget of 4 posts is used up; it is registered again on 20\d\d-\d\d-01$/
        const { rules } = yield* request(service, "/api.ListRules")
        assert.deepInclude(rules[0].platforms.x, { state: "paused", paused_by: "budget" })
        const listed = yield* Effect.promise(() => runInProcess(["rules", "list"], { EARSHOT_DATA_DIR }))
        assert.match(listed.stdout, /\n {2}x {9}paused since 20\S+Z {2}storm \(paused: /, listed.stderr)
        assert.match(rules[0].platforms.x.reason, reason)
        const { coverage } = yield* request(service, "/matches", { rule_id: rules[0].id })
        assert.deepInclude(coverage.platforms[0].gaps[0], { rule_id: rules[0].id, cause: "budget" })
        assert.match(coverage.platforms[0].gaps[0].detail, reason)
        const status = yield* request(service, "/platforms/status")
        assert.match(status.platforms[0].summary, /100 % of the monthly budget of 4 posts used, 1 rule paused/)
        const metrics = yield* Effect.promise(async () => (await fetch(`${service.url}/metrics`)).text())
        assert.match(metrics, /\nearshot_budget_used_posts\{platform="x"\} 4\n/)
        assert.match(metrics, /\nearshot_budget_limit_posts\{platform="x"\} 4\n/)
        assert.match(metrics, /\nearshot_rules_paused\{platform="x"\} 1\n/)

        const late = yield* Effect.promise(() =>
          runInProcess(["rules", "create", "--name", "late", "--intent", "i", "--x", "storm"], {
            EARSHOT_URL: service.url,
            EARSHOT_API_KEY: KEY
          })
        )
        assert.match(late.stdout, /^rule_\w{26}\n {2}x {9}storm\n$/)
        assert.match(late.stderr, /The rule is paused: .* is used up; it is registered again on 20\d\d-\d\d-01/)
        assert.deepStrictEqual((yield* simulator.control.state).x.rules, [])

        const stopped = yield* Effect.promise(() => service.stop())
        assert.include(stopped.stdout, `Platform x: connects to ${url}, with a monthly budget of 4 posts;`)
        const EARSHOT_OPERATOR_KEY = "the-key-of-the-operator"
        const raised = yield* started({ ...settings, EARSHOT_OPERATOR_KEY, X_MONTHLY_POST_BUDGET: "40" })
        const after = yield* untilShown(/^x {2}live/, raised)
        assert.match(after.stdout, /Posts in \S+: 4 for the rules of this account/)
        assert.match(after.stdout, /Budget: 10 % of 40 posts used/)
        const byKey = { EARSHOT_URL: raised.url, EARSHOT_OPERATOR_KEY }
        const keyed = yield* Effect.promise(() => runInProcess(["platforms"], byKey))
        assert.match(keyed.stdout, /\n {4}default {2}4, \$2\.00\n/, keyed.stderr)
        assert.deepInclude((yield* request(raised, "/api.ListRules")).rules[0].platforms.x, { state: "active" })
      })
  )

  it.live("fails with advice without a server or a key", () =>
    Effect.gen(function* () {
      const away = yield* Effect.promise(() =>
        runInProcess(["platforms"], { EARSHOT_URL: "http://127.0.0.1:1", EARSHOT_API_KEY: KEY })
      )
      assert.strictEqual(away.code, 1)
      assert.match(away.stderr, /Cannot reach Earshot at http:\/\/127\.0\.0\.1:1/)
      const keyless = yield* Effect.promise(() => runInProcess(["platforms"]))
      assert.match(
        keyless.stderr,
        /^earshot: No running server uses the store in ".*", .*: start it with earshot serve, .* and set EARSHOT_API_KEY or/
      )
      const DATABASE_URL = "postgres://nobody@127.0.0.1:1/none"
      const onPostgres = yield* Effect.promise(() => runInProcess(["platforms"], { DATABASE_URL }))
      assert.match(onPostgres.stderr, /^earshot: A server on Postgres .* no operator socket: name a server with --url/)
    })
  )
})

// ---- helpers ----

const started = (settings: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.promise(() => serveInProcess(settings)),
    (service) => Effect.promise(() => service.stop())
  )

const platforms = (service: Served, ...args: ReadonlyArray<string>) =>
  Effect.promise(() => runInProcess(["platforms", ...args], { EARSHOT_URL: service.url, EARSHOT_API_KEY: KEY }))

// biome-ignore lint/suspicious/noExplicitAny: the test reads deep into answers of several shapes
const request = (service: Served, path: string, body?: object): Effect.Effect<any> =>
  Effect.promise(async () => {
    const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" }
    const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
    return (await fetch(service.url + path, { headers, ...post })).json()
  })

const create = (service: Served, platform: string) =>
  Effect.promise(async () => {
    const answer = await fetch(`${service.url}/api.CreateRule`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "n", intent: "i", platforms: [platform], overrides: { [platform]: "storm" } })
    })
    return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> }
  })
