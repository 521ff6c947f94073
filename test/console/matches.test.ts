/** The matches page in a real browser: live, complete across a restart, and text only. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import { call, draft, firehoseUpdate, xPost } from "../gateway/client.ts"
import { KEY, type Served, START_MILLIS, serveInProcess } from "../program.ts"
import { describeInBrowser } from "./browser.ts"

const folder = mkdtempSync(join(tmpdir(), "earshot-test-"))

let server: Served

const send = (...events: ReadonlyArray<unknown>) =>
  Promise.all(events.map((event) => call({ ...server, key: KEY }, "/local/events", event)))

beforeAll(async () => {
  server = await serveInProcess({ EARSHOT_DATA_DIR: folder })
  await call({ ...server, key: KEY }, "/api.CreateRule", { ...draft("storm", ["x", "firehose"]), name: "Storms" })
}, START_MILLIS)

afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

const MARKUP = `<img src=x onerror="window.broken = 1"><script>window.broken = 1</script> <b>storm</b>`

describeInBrowser("the matches page", (openPage) => {
  const openMatches = async (): Promise<Page> => {
    const page = await openPage()
    await page.goto(`${server.url}/console/matches#key=${KEY}`)
    await page.getByText("Live", { exact: true }).waitFor()
    return page
  }

  it("shows matches as they happen, with the words that matched, and explains them", async () => {
    const page = await openMatches()
    await send(xPost("1", "A storm is coming"), firehoseUpdate("https://example.com/news", "After the storm"))
    await page.getByText("A storm is coming").waitFor()
    await page.getByText("After the storm").waitFor()
    await page.locator("mark", { hasText: "storm" }).first().waitFor()
    await page.getByRole("button", { name: "Why" }).first().click()
    await page.getByText(/Decided by/i).waitFor()
    const json = page.getByRole("button", { name: "JSON" }).first()
    const place = await json.boundingBox()
    await json.click()
    await page.getByText('"rule_version"').waitFor()
    assert.deepStrictEqual(await json.boundingBox(), place, "a second click at the same place closes it")
  })

  it("holds new matches back while it is paused, and says how many wait", async () => {
    const page = await openMatches()
    await page.keyboard.press("Space")
    await page.getByText("Paused", { exact: true }).waitFor()
    await send(xPost("2", "Storm number two"))
    await page.getByRole("button", { name: "1 waiting" }).waitFor()
    assert.strictEqual(await page.getByText("Storm number two").count(), 0)
    await page.keyboard.press("Space")
    await page.getByText("Storm number two").waitFor()
  })

  it("shows markup of strangers as text", async () => {
    const page = await openMatches()
    await send(xPost("3", MARKUP), firehoseUpdate("javascript:window.broken=1", MARKUP))
    await page.getByText("window.broken = 1").nth(1).waitFor()
    assert.isUndefined(await page.evaluate("window.broken"))
    assert.strictEqual(await page.locator("main img, main script, main b").count(), 0)
    assert.strictEqual(await page.locator('a[href^="javascript"]').count(), 0)
  })

  it("misses nothing and shows nothing twice when the server restarts", async () => {
    const page = await openMatches()
    const texts = Array.from({ length: 12 }, (_, index) => `Storm ${index + 100} of the restart`)
    const posts = texts.map((text, index) => xPost(String(index + 100), text))
    await send(...posts.slice(0, 4))
    await page.getByText(String(texts[3])).waitFor()
    await server.stop()
    await page.getByText("Reconnecting…").waitFor()
    server = await serveInProcess({ EARSHOT_DATA_DIR: folder, PORT: String(server.port) })
    await send(...posts.slice(4, 8))
    await page.getByText(String(texts[7])).waitFor({ timeout: START_MILLIS })
    await send(...posts.slice(8))
    for (const text of texts) await page.getByText(text, { exact: true }).first().waitFor()
    for (const text of texts) assert.strictEqual(await page.getByText(text, { exact: true }).count(), 1, text)
  })
})
