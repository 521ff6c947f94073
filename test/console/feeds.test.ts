/** The feeds of the account on the page of platforms, in a real browser. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import axe from "axe-core"
import { KEY, type Served, START_MILLIS, serveInProcess } from "../program.ts"
import { describeInBrowser } from "./browser.ts"

let server: Served
let publisher: Server

beforeAll(async () => {
  publisher = createServer(
    (_, response) => void response.end("<rss version='2.0'><channel><title>News</title></channel></rss>")
  )
  await new Promise<void>((resolve) => publisher.listen(0, "127.0.0.1", resolve))
  server = await serveInProcess({ EARSHOT_FEEDS: "on", EARSHOT_FEED_ALLOW: "127.0.0.0/8" })
}, START_MILLIS)

afterAll(async () => {
  await server.stop()
  publisher.close()
})

describeInBrowser("the feeds of the account", (openPage) => {
  it("are added, shown with their state, and removed", async () => {
    const page = await openPage({ viewport: { width: 390, height: 800 } })
    await page.goto(`${server.url}/console/platforms#key=${KEY}`)
    const section = page.getByRole("region", { name: "Your feeds" })
    await section.getByText("None yet.").waitFor()
    const address = section.getByLabel("Address of an RSS, Atom or JSON feed")
    await address.fill("http://10.1.2.3/")
    await section.getByRole("button", { name: "Add feed" }).click()
    await section
      .getByText(/is a private address/)
      .first()
      .waitFor()
    const url = `http://127.0.0.1:${(publisher.address() as AddressInfo).port}/${"long/".repeat(20)}feed.xml`
    await address.fill(url)
    await section.getByRole("button", { name: "Add feed" }).click()
    const row = section.getByRole("listitem")
    await row.getByText(url).waitFor()
    await row.getByText("Watching").waitFor()
    await row.getByText("News").waitFor()
    const tooWide = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"))
    assert.isAtMost(tooWide, 0)
    await page.evaluate(axe.source)
    const violations = await page.evaluate("axe.run(document).then(({ violations }) => violations.map(({ id }) => id))")
    assert.deepStrictEqual(violations, [])
    await row.getByRole("button", { name: "Remove" }).click()
    await page.getByRole("dialog", { name: "Remove this feed?" }).getByRole("button", { name: "Remove feed" }).click()
    await section.getByText("None yet.").waitFor()
  })
})
