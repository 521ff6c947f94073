/** The rule editor in a real browser: it checks as you type, repairs by a click, and saves. */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import { call, draft } from "../gateway/client.ts"
import { KEY, type Served, START_MILLIS, serveInProcess } from "../program.ts"
import { describeInBrowser } from "./browser.ts"

let server: Served

beforeAll(async () => {
  server = await serveInProcess({ EARSHOT_DEMO_FEED: "on" })
}, START_MILLIS)

afterAll(() => server.stop())

const filtersOf = async (name: string) => {
  const { body } = await call({ ...server, key: KEY }, "/api.ListRules")
  const rule = [...(body["rules"] ?? [])].find((one) => String(one["name"]) === name)
  return { version: Number(rule?.["version"]), x: String(rule?.["platforms"]?.["x"]?.["translated_value"]) }
}

const clickFilter = (page: Page) =>
  page
    .getByRole("textbox", { name: /filter/i })
    .first()
    .click()

describeInBrowser("the rule editor", (openPage) => {
  it("creates a rule whose typing error is fixed by a click, and its translation for the other platform", async () => {
    const page = await openPage()
    await page.goto(`${server.url}/console#key=${KEY}`)
    await page.getByRole("link", { name: "Create your first rule" }).click()
    await page.getByRole("textbox", { name: "Name" }).fill("Storms")
    await page.getByLabel("Intent: what should it find, and why?").fill("News about storms")
    await clickFilter(page)
    await page.keyboard.type("storm lnag:en")
    await page
      .getByRole("button", { name: /^Fix: / })
      .first()
      .click()
    await page.getByRole("button", { name: "Use this for Firehose" }).click()
    await page
      .getByRole("button", { name: /^Test on recent/ })
      .first()
      .click()
    await page.getByRole("button", { name: "Create rule" }).click()
    await page.getByRole("heading", { name: "Storms", exact: true }).waitFor()
    assert.deepStrictEqual(await filtersOf("Storms"), { version: 1, x: "storm lang:en" })
    await page.getByText("storm AND language:en").waitFor()
  })

  it("shows the newest posts if a filter matches none, explains why, and says that they are made up", async () => {
    const page = await openPage()
    await page.goto(`${server.url}/console/rules/new#key=${KEY}`)
    await page.getByRole("link", { name: "Demo data" }).waitFor()
    await clickFilter(page)
    await page.keyboard.type("gobbledygook")
    await page
      .getByRole("button", { name: /^Test on recent/ })
      .first()
      .click()
    await page.getByRole("button", { name: "Why not?" }).first().click()
    await page.getByText("It does not match.", { exact: true }).waitFor()
  })

  it("does not claim that a platform was asked that runs in process", async () => {
    const page = await openPage()
    await page.goto(`${server.url}/console/rules/new#key=${KEY}`)
    await clickFilter(page)
    await page.keyboard.type("storm")
    await page.getByRole("button", { name: "Ask X" }).click()
    await page
      .getByText(
        "X was not asked, because this server registers no filters there. Earshot’s own check accepts the filter.",
        {
          exact: true
        }
      )
      .waitFor()
  })

  it("saves a change as a new version, and does not overwrite the change of another", async () => {
    const target = { ...server, key: KEY }
    const { body } = await call(target, "/api.CreateRule", { ...draft("hail", ["x"]), name: "Hail" })
    const rule_id = String(body["rule_id"])
    const page = await openPage()
    await page.goto(`${server.url}/console/rules/${rule_id}/edit#key=${KEY}`)
    await clickFilter(page)
    await page.keyboard.press("Control+End")
    await page.keyboard.type(" ice")
    await page.keyboard.press("Control+Enter")
    await page.getByText("Version 2", { exact: true }).waitFor()
    assert.deepStrictEqual(await filtersOf("Hail"), { version: 2, x: "hail ice" })

    await page.getByRole("link", { name: "Edit" }).click()
    await page.getByRole("textbox", { name: "Name" }).fill("Hail and ice")
    await call(target, "/api.UpdateRule", { rule_id, intent: "Changed by another" })
    await page.getByRole("button", { name: "Save new version" }).click()
    await page.getByRole("button", { name: /Load version 3/ }).waitFor()
    assert.strictEqual((await filtersOf("Hail")).version, 3)
  })
})
