/** Every page of the console in a real browser: accessible in light, dark and on a phone, and true. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import axe from "axe-core"
import type { Page } from "playwright-core"
import { call, draft, xPost } from "../gateway/client.ts"
import { withEventClient } from "../gateway/mcp/eventClient.ts"
import { isLong } from "../long.ts"
import { KEY, type Served, START_MILLIS, serveInProcess, startCommand } from "../program.ts"
import { describeInBrowser } from "./browser.ts"

let server: Served
let simulator: ReturnType<typeof startCommand>
let simulated: string
let receiver: Server
let ruleId: string

beforeAll(async () => {
  simulator = startCommand("node", ["simulate", "--port", "0", "--rate", "0"])
  const [url = "", token = ""] = (await simulator.printed(/X_BASE_URL=(\S+ X_BEARER_TOKEN=\S+)/)).split(
    " X_BEARER_TOKEN="
  )
  simulated = url
  // Tests are answered with 200 everywhere, matches only by /hook.
  receiver = createServer(async (request, response) => {
    const body = (await request.toArray()).join("")
    response.statusCode = request.url === "/hook" || body.includes("webhook.test") ? 200 : 500
    response.end("thanks")
  })
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
  // X comes from the simulator; Firehose runs in process.
  server = await serveInProcess({
    X_BASE_URL: url,
    X_BEARER_TOKEN: token,
    EARSHOT_WEBHOOK_ALLOW: "127.0.0.0/8"
  })
  const { body } = await call({ ...server, key: KEY }, "/api.CreateRule", {
    ...draft("storm", ["x", "firehose"]),
    name: "Storms"
  })
  ruleId = String(body["rule_id"])
  await control("events", xPost("501", "A storm on the simulator"))
}, START_MILLIS)

afterAll(async () => {
  await server.stop()
  simulator.signal("SIGTERM")
  await simulator.ended
  receiver.close()
})

const control = (path: string, body: unknown) =>
  fetch(`${simulated}/control/${path}`, { method: "POST", body: JSON.stringify(body) })

const PAGES: ReadonlyArray<readonly [name: string, path: () => string, heading: string]> = [
  ["rules", () => "/", "Rules"],
  ["a rule", () => `/rules/${ruleId}`, "Storms"],
  ["the editor", () => `/rules/${ruleId}/edit`, "Edit “Storms”"],
  ["a new rule", () => "/rules/new", "New rule"],
  ["matches", () => "/matches", "Matches"],
  ["coverage", () => "/coverage", "Coverage and volume"],
  ["platforms", () => "/platforms", "Platforms"],
  ["webhooks", () => "/webhooks", "Webhooks"],
  ["keys", () => "/keys", "Keys and limits"]
]

const DARK = { colorScheme: "dark" } as const
const PHONE = { width: 360, height: 740 } as const

const LOOKS = [
  ["in light", { colorScheme: "light" }],
  ["in dark", DARK],
  ["on a phone", { viewport: PHONE }]
] as const

/** Rules of axe whose outcome depends on the look. */
const RULES_OF_LOOKS = ["color-contrast", "scrollable-region-focusable"]

describeInBrowser("the pages of the console", (openPage) => {
  const opened = async (options: Parameters<typeof openPage>[0]) => {
    const page = await openPage(options)
    await page.goto(`${server.url}/console#key=${KEY}`)
    await page.getByRole("heading", { name: "Rules", exact: true }).waitFor()
    return page
  }

  for (const [look, options] of isLong ? LOOKS : []) {
    it(`are accessible and fit ${look}`, async () => {
      const page = await opened(options)
      const problems: Array<string> = []
      for (const shown of PAGES) {
        await show(page, shown)
        problems.push(...(await problemsOf(page, shown)))
      }
      assert.deepStrictEqual(problems, [])
    })
  }

  // Loads each page once.
  it.skipIf(isLong)("are accessible and fit in light, in dark and on a phone", async () => {
    const page = await opened({})
    const desktop = page.viewportSize() ?? PHONE
    const problems: Array<string> = []
    for (const shown of PAGES) {
      await page.emulateMedia({ colorScheme: "light" })
      await page.setViewportSize(desktop)
      await show(page, shown)
      problems.push(...(await problemsOf(page, shown)))
      await page.emulateMedia(DARK)
      problems.push(...(await problemsOf(page, shown, RULES_OF_LOOKS)))
      await page.setViewportSize(PHONE)
      problems.push(...(await problemsOf(page, shown, RULES_OF_LOOKS)))
    }
    assert.deepStrictEqual(problems, [])
  })

  it("name the address of a service in place of the platform's own", async () => {
    const page = await openPage()
    await page.goto(`${server.url}/console/platforms#key=${KEY}`)
    await page.getByText(`Uses ${simulated}, not X itself`).waitFor()
    assert.strictEqual(await page.getByText("Uses the real platform").count(), 0)
    await page.getByText("Runs in process, without the real platform").waitFor()
  })

  it("say what each platform that is not watched would need", async () => {
    const page = await openPage()
    await page.goto(`${server.url}/console/platforms#key=${KEY}`)
    const offers = page.getByRole("region", { name: "Watch more" })
    await offers.getByText("EARSHOT_BLUESKY=on").waitFor()
    assert.deepStrictEqual(await offers.getByRole("term").allTextContents(), [
      "Bluesky",
      "Feeds",
      "Wikimedia",
      "Firehose"
    ])
  })

  it("lead back to the list from a rule that does not exist", async () => {
    const page = await openPage()
    for (const path of ["rule_nobody", "rule_nobody/edit"]) {
      await page.goto(`${server.url}/console/rules/${path}#key=${KEY}`)
      await page.getByText('Cannot find rule "rule_nobody"').waitFor()
      await page.getByRole("link", { name: "All rules", exact: true }).click()
      await page.getByRole("heading", { name: "Rules", exact: true }).waitFor()
    }
  })

  it("name a field by its label if it is not valid", async () => {
    const page = await openPage()
    await page.goto(`${server.url}/console/webhooks#key=${KEY}`)
    await page.getByRole("button", { name: "New webhook" }).first().click()
    await page.getByLabel("URL").fill("https://user:secret@example.com/hook")
    await page.getByRole("button", { name: "Create webhook" }).click()
    assert.match(String(await page.getByRole("alert").textContent()), /^URL: /)
  })

  it("show a gap that the platform caused", async () => {
    const page = await openPage()
    await control("faults", { kind: "server-error", platform: "x", endpoint: "stream", seconds: 3, status: 503 })
    await control("faults", { kind: "close", platform: "x" })
    await page.goto(`${server.url}/console/coverage?period=hour#key=${KEY}`)
    const gaps = page.getByRole("table").filter({ hasText: "Cause" })
    await gaps
      .getByRole("cell", { name: /503|closed|cut|connection/i })
      .first()
      .waitFor({ timeout: START_MILLIS })
  })

  it("tell the test of a webhook from its deliveries", async () => {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/refuses`
    const created = await call({ ...server, key: KEY }, "/webhooks/create", { url, rule_ids: [ruleId] })
    await publishUntil(String(created.body["webhook"]?.["id"]), "retrying")
    const page = await openPage()
    await page.goto(`${server.url}/console/webhooks#key=${KEY}`)
    const card = page.getByRole("region", { name: url })
    await card.getByRole("button", { name: "Send test" }).click()
    await card.getByText(/^Last test .*delivered, HTTP 200/).waitFor()
    await card.getByText(/^Last delivery .*failed.*Answered 500/).waitFor()
    await card.getByText("Deliveries are failing", { exact: true }).waitFor()
  })

  it("show a subscription with the name of its client, and end it", async () => {
    const target = { ...server, key: KEY }
    await withEventClient(target, async (client) => {
      const { delivery } = await client.subscribe("match.created", { rule_id: ruleId })
      const page = await openPage()
      await page.goto(`${server.url}/console/webhooks#key=${KEY}`)
      const card = page.getByRole("region", { name: delivery.url, exact: true })
      await card
        .getByText(/^Subscription of ai-sdk-mcp-client to match\.created, until .+ unless the client refreshes it$/)
        .waitFor()
      assert.strictEqual(await card.getByRole("button", { name: "New secret" }).count(), 0, "the client has its own")
      await card.getByRole("button", { name: "End", exact: true }).click()
      const dialog = page.getByRole("dialog", { name: "End this subscription?" })
      await dialog.getByText(/The client may subscribe again/).waitFor()
      await dialog.getByRole("button", { name: "End subscription" }).click()
      await card.waitFor({ state: "detached" })
      const left = [...((await call(target, "/webhooks")).body["webhooks"] ?? [])].map(({ kind }) => String(kind))
      assert.notInclude(left, "subscription")
    })
  })

  it("create a webhook, test it, and show the attempt with its answer", async () => {
    const page = await openPage()
    await page.goto(`${server.url}/console/webhooks#key=${KEY}`)
    await page.getByRole("button", { name: "New webhook" }).first().click()
    await page.getByLabel("URL").fill(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`)
    await page.getByRole("button", { name: "Create webhook" }).click()
    await page.getByRole("button", { name: "Send test" }).first().click()
    await page
      .getByText(/\b200\b/)
      .first()
      .waitFor()
  })
})

// ---- helpers ----

/** Again and again: the stream may be down after the gap. */
const publishUntil = async (id: string, state: string): Promise<void> => {
  for (let tries = 0; tries < 600; tries++) {
    if (tries % 20 === 0) await control("events", xPost(String(502 + tries), "Another storm on the simulator"))
    const { body } = await call({ ...server, key: KEY }, "/webhooks")
    const webhook = [...(body["webhooks"] ?? [])].find((one) => String(one["id"]) === id)
    if (String(webhook?.["state"]) === state) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.fail(`The webhook is not ${state}`)
}

const show = async (page: Page, [, path, heading]: (typeof PAGES)[number]): Promise<void> => {
  await page.goto(`${server.url}/console${path()}`)
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor()
  // Several parts of a page can load at the same time.
  while ((await page.getByText("Loading…").count()) > 0) await page.waitForTimeout(50)
  await page.evaluate(axe.source)
}

/** All rules of axe unless some are given. */
const problemsOf = async (
  page: Page,
  [name]: (typeof PAGES)[number],
  rules?: ReadonlyArray<string>
): Promise<ReadonlyArray<string>> => {
  const problems = await axeProblems(page, rules)
  const tooWide = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"))
  return [
    ...problems.map((problem) => `${name}: ${problem}`),
    ...(tooWide > 0 ? [`${name} is ${tooWide} pixels too wide`] : [])
  ]
}

const axeProblems = async (page: Page, rules?: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const found = (await page.evaluate(
    `axe.run(document, ${JSON.stringify(rules === undefined ? {} : { runOnly: rules })})`
  )) as {
    readonly passes: ReadonlyArray<unknown>
    readonly violations: ReadonlyArray<{
      readonly id: string
      readonly nodes: ReadonlyArray<{ readonly html: string }>
    }>
  }
  assert.isAbove(found.passes.length, rules === undefined ? 10 : 0, "axe has looked at the page")
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`)
}
