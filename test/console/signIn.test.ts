/** The console in a real browser: signing in, and what a key may do. */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { call, draft } from "../gateway/client.ts"
import { KEY, type Running, START_MILLIS, serveInProcess, startService } from "../program.ts"
import { describeInBrowser } from "./browser.ts"

const RULE = "Storms in spring"

let server: Running

beforeAll(async () => {
  server = await startService("node", { EARSHOT_DEMO_FEED: "off" })
  await call({ ...server, key: KEY }, "/api.CreateRule", { ...draft("storm", ["x", "firehose"]), name: RULE })
}, START_MILLIS)

afterAll(() => server.stop())

describeInBrowser("the console", (openPage) => {
  it("opens from the address of the server, and asks for a key", async () => {
    const page = await openPage()
    await page.goto(server.url)
    assert.strictEqual(new URL(page.url()).pathname, "/console")
    await page.getByLabel("API key").fill("es_wrong")
    await page.getByRole("button", { name: "Sign in" }).click()
    assert.match(String(await page.getByRole("alert").textContent()), /key/)
    await page.getByLabel("API key").fill(KEY)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "Rules", exact: true }).waitFor()
    await page.reload()
    await page.getByRole("link", { name: RULE, exact: true }).waitFor()
  })

  it("says on every page that the server is in a drill", async () => {
    const page = await openPage()
    const drill = await serveInProcess({
      EARSHOT_UPSTREAM: "off",
      EARSHOT_WEBHOOKS: "off",
      EARSHOT_DEMO_FEED: "on"
    })
    await page.goto(`${drill.url}/console#key=${KEY}`)
    for (const path of ["", "/matches", "/webhooks"]) {
      if (path !== "") await page.goto(`${drill.url}/console${path}`)
      for (const note of ["Upstream off", "Webhooks off"]) {
        await page.getByRole("link", { name: note, exact: true }).waitFor({ state: "visible" })
      }
    }
    assert.strictEqual(await page.getByRole("link", { name: "Demo data", exact: true }).count(), 0)
    await drill.printed(/Platform x: off\nPlatform firehose: off\nUpstream is off .*\n(?:.*\n)*Demo feed: off/)
    await drill.stop()
  })

  it("takes the key of the printed link out of the address, and forgets it with the tab", async () => {
    const page = await openPage()
    const addresses: Array<string> = []
    page.on("request", (request) => addresses.push(request.url()))
    await page.goto(`${server.url}/console#key=${KEY}`)
    await page.getByRole("link", { name: RULE, exact: true }).waitFor()
    assert.notInclude(page.url(), KEY)
    assert.notInclude(addresses.join("\n"), KEY)
    const other = await page.context().newPage()
    await other.goto(`${server.url}/console`)
    await other.getByLabel("API key").waitFor()
  })

  it("remembers the key in the browser if asked, until the reader signs out", async () => {
    const page = await openPage()
    await page.goto(`${server.url}/console`)
    await page.getByLabel("API key").fill(KEY)
    await page.getByLabel("Remember").check()
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("link", { name: RULE, exact: true }).waitFor()
    const other = await page.context().newPage()
    await other.goto(`${server.url}/console`)
    await other.getByRole("link", { name: RULE, exact: true }).waitFor()
    await other.getByRole("button", { name: "Sign out" }).click()
    await page.reload()
    await page.getByLabel("API key").waitFor()
  })

  it("shows a read key no control that it may not use", async () => {
    const { body } = await call({ ...server, key: KEY }, "/keys/create", { name: "reader", scope: "read" })
    const page = await openPage()
    await page.goto(`${server.url}/console#key=${String(body["secret"])}`)
    await page.getByRole("link", { name: RULE, exact: true }).waitFor()
    assert.strictEqual(await page.getByRole("link", { name: "New rule" }).count(), 0)
    await page.getByRole("link", { name: RULE, exact: true }).click()
    await page.getByRole("heading", { name: "Versions" }).waitFor()
    for (const name of ["Edit", "Pause", "Delete"]) {
      assert.strictEqual(await page.getByText(name, { exact: true }).count(), 0, name)
    }
  })

  it("pauses, resumes and deletes a rule, after it said what goes", async () => {
    const page = await openPage()
    await call({ ...server, key: KEY }, "/api.CreateRule", { ...draft("tornado", ["x"]), name: "To be deleted" })
    await page.goto(`${server.url}/console#key=${KEY}`)
    await page.getByRole("link", { name: "To be deleted", exact: true }).click()
    await page.getByRole("button", { name: "Pause" }).click()
    await page.getByText("paused", { exact: true }).first().waitFor()
    await page.getByRole("button", { name: "Resume" }).click()
    await page.getByText("active", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Delete" }).click()
    const dialog = page.getByRole("dialog")
    assert.match(String(await dialog.textContent()), /its matches and versions are deleted/)
    await dialog.getByRole("button", { name: "Delete rule" }).click()
    await page.getByRole("heading", { name: "Rules", exact: true }).waitFor()
    await page.getByText("Deleted “To be deleted” and its matches").waitFor()
    await page.getByRole("link", { name: "To be deleted", exact: true }).waitFor({ state: "detached" })
  })

  it("says so if a page cannot be loaded, and loads it again", async () => {
    const page = await openPage()
    await page.goto(`${server.url}/console#key=${KEY}`)
    await page.getByRole("heading", { name: "Rules", exact: true }).waitFor()
    await page.route("**/WebhooksPage-*.js", (route) => route.abort())
    await page.getByRole("link", { name: "Webhooks", exact: true }).click()
    await page.getByText("This page could not be loaded").waitFor()
    await page.unroute("**/WebhooksPage-*.js")
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByRole("heading", { name: "Webhooks", exact: true }).waitFor()
  })
})
