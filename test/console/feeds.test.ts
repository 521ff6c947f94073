/** What the console shows of the sources that a setting turns on, in a real browser: feeds, Bluesky and Wikimedia. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import axe from "axe-core"
import type { Route } from "playwright-core"
import { cursorAt } from "../../console/matches/cursorAt.ts"
import { call } from "../gateway/client.ts"
import { KEY, type Served, START_MILLIS, serveInProcess } from "../program.ts"
import { describeInBrowser } from "./browser.ts"

let server: Served
let publisher: Server

beforeAll(async () => {
  publisher = createServer((request, response) => {
    response.statusCode = request.url === "/broken" ? 500 : 200
    response.end("<rss version='2.0'><channel><title>News</title></channel></rss>")
  })
  await new Promise<void>((resolve) => publisher.listen(0, "127.0.0.1", resolve))
  const closed = "http://127.0.0.1:9"
  server = await serveInProcess({
    EARSHOT_FEEDS: "on",
    EARSHOT_FEED_ALLOW: "127.0.0.0/8",
    EARSHOT_BLUESKY: "on",
    BLUESKY_BASE_URL: closed,
    EARSHOT_WIKIMEDIA_CONTACT: "test@example.org",
    WIKIMEDIA_BASE_URL: closed
  })
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
    const site = `http://127.0.0.1:${(publisher.address() as AddressInfo).port}`
    const url = `${site}/${"long/".repeat(20)}feed.xml`
    await address.fill(url)
    await section.getByRole("button", { name: "Add feed" }).click()
    const row = section.getByRole("listitem")
    await row.getByText(url).waitFor()
    await row.getByText("Watching").waitFor()
    await row.getByText("News").waitFor()
    await address.fill(`${url}#top`)
    await section.getByRole("button", { name: "Add feed" }).click()
    await section.getByText("You have it already").waitFor()
    assert.strictEqual(await address.inputValue(), `${url}#top`)
    const tooWide = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"))
    assert.isAtMost(tooWide, 0)
    await page.evaluate(axe.source)
    const violations = await page.evaluate("axe.run(document).then(({ violations }) => violations.map(({ id }) => id))")
    assert.deepStrictEqual(violations, [])
    await row.getByRole("button", { name: "Remove" }).click()
    await page.getByRole("dialog", { name: "Remove this feed?" }).getByRole("button", { name: "Remove feed" }).click()
    await section.getByText("None yet.").waitFor()
    await address.fill(`${site}/broken`)
    await section.getByRole("button", { name: "Add feed" }).click()
    await row.getByText("Could not be read yet, retrying").waitFor()
  })
})

describeInBrowser("the matches of each source", (openPage) => {
  it("are shown with their words marked, on the page of matches and on that of their rule", async () => {
    const { body } = await call({ ...server, key: KEY }, "/api.CreateRule", {
      name: "Quakes",
      intent: "Hear of quakes",
      platforms: Object.keys(EVENTS),
      overrides: Object.fromEntries(Object.keys(EVENTS).map((platform) => [platform, "quake"]))
    })
    const ruleId = String(body["rule_id"])
    const page = await openPage()
    await page.route(/\/trpc\/.*matches\.list/, (route) => withMatches(route, ruleId))
    await page.goto(`${server.url}/console/matches#key=${KEY}`)
    const [post, change, item] = [/Open post/, /Open change/, /Open item/].map((hasText) =>
      page.getByRole("article").filter({ hasText })
    )
    await post?.getByText("reply to another post").waitFor()
    await change?.getByText("+80 bytes").waitFor()
    await item?.getByRole("heading", { name: "A quake <b>now</b>" }).waitFor()
    for (const card of [post, change, item]) await card?.locator("mark", { hasText: "quake" }).first().waitFor()
    await page.goto(`${server.url}/console/rules/${ruleId}`)
    await page.getByText("@ann.example.com: A quake on Bluesky").waitFor()
    await page.getByText("en.wikipedia.org: Talk: Tokyo · A quake in the history").waitFor()
    await page.getByText("Example news: A quake <b>now</b>").waitFor()
  })

  it("have an editor that begins with a source that delivers events", async () => {
    const page = await openPage()
    await page.goto(`${server.url}/console/rules/new#key=${KEY}`)
    await page.getByRole("heading", { name: "Filter for Bluesky posts" }).waitFor()
    assert.isFalse(await page.getByRole("checkbox", { name: /^X / }).isChecked())
  })
})

// ---- helpers ----

const EVENTS = {
  bluesky: {
    did: "did:plc:ann",
    commit: {
      rkey: "1",
      record: {
        text: "A quake on Bluesky",
        reply: { parent: { uri: "at://did:plc:bob/app.bsky.feed.post/1" } }
      }
    },
    handles: { "did:plc:ann": "ann.example.com" }
  },
  wikimedia: {
    meta: { id: "1", uri: "https://en.wikipedia.org/wiki/Talk:Tokyo" },
    type: "edit",
    title: "Talk:Tokyo",
    comment: "A quake in the history",
    user: "Ann",
    length: { old: 20, new: 100 },
    server_name: "en.wikipedia.org",
    wiki: "enwiki"
  },
  feeds: {
    feed: { url: "https://example.com/feed.xml", title: "Example news" },
    item: { id: "1", url: "https://example.com/quake", title: "A quake <b>now</b>" }
  }
}

/** In place of real ones: feeds are polled only every few minutes. */
const withMatches = async (route: Route, ruleId: string): Promise<void> => {
  const response = await route.fetch()
  const answers = await response.json()
  for (const answer of answers) {
    if (answer.result?.data?.matches === undefined) continue
    answer.result.data.matches = Object.entries(EVENTS).map(([platform, payload], index) => ({
      id: cursorAt(Date.now() - index),
      rule_id: ruleId,
      rule_version: 1,
      created_at: new Date().toISOString(),
      platform,
      platform_post_id: "1",
      payload
    }))
  }
  await route.fulfill({ response, json: answers })
}
