/** The page `/docs`: complete, by the program and in a browser. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import axe from "axe-core"
import { allContracts } from "../../api/contracts.ts"
import { describeInBrowser } from "../console/browser.ts"
import { RUNTIMES, type Served, START_MILLIS, serveInProcess, serveOn } from "../program.ts"
import { type Document, operationsOf } from "./document.ts"

for (const runtime of RUNTIMES) {
  describe(`/docs on ${runtime}`, { timeout: START_MILLIS }, () => {
    let running: Served | undefined
    beforeAll(async () => {
      running = await serveOn(runtime)
    }, START_MILLIS)
    afterAll(async () => {
      await running?.stop()
    }, START_MILLIS)

    const get = async (headers: Readonly<Record<string, string>> = {}) => {
      const response = await fetch(`${running?.url}/docs`, { headers })
      return { status: response.status, headers: response.headers, html: await response.text() }
    }

    it("is HTML with a request id and needs no key", async () => {
      const { status, headers, html } = await get()
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("content-type"), "text/html; charset=utf-8")
      assert.isNotEmpty(headers.get("x-request-id"))
      assert.match(html, /^<!doctype html>/)
      assert.isBelow(html.length, 400_000)
    })

    it("is compressed, and sent again only if it has changed", async () => {
      const compressed = await get({ "accept-encoding": "gzip, br" })
      assert.strictEqual(compressed.headers.get("content-encoding"), "gzip")
      assert.isBelow(Number(compressed.headers.get("content-length")), 100_000)
      const plain = await get({ "accept-encoding": "identity" })
      assert.isNull(plain.headers.get("content-encoding"))
      assert.strictEqual(plain.html, compressed.html)
      const etag = plain.headers.get("etag") ?? ""
      const again = await get({ "accept-encoding": "identity", "if-none-match": etag })
      assert.deepStrictEqual([again.status, again.html], [304, ""])
    })

    it("allows its own script and style only", async () => {
      const { headers, html } = await get()
      const hashOf = async (element: string) => {
        const [, text = ""] = new RegExp(`<${element}>(.*?)</${element}>`, "s").exec(html) ?? []
        assert.isNotEmpty(text)
        const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))
        return `'sha256-${Buffer.from(digest).toString("base64")}'`
      }
      assert.strictEqual(
        headers.get("content-security-policy"),
        `default-src 'none'; script-src ${await hashOf("script")}; style-src ${await hashOf("style")}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
      )
      assert.lengthOf([...html.matchAll(/<script/g)], 1)
      assert.notMatch(html, / on\w+=| style=| src=/)
    })

    it("has every operation, message, error and schema of the document, and no link without a target", async () => {
      const { html } = await get()
      const document = (await (await fetch(`${running?.url}/openapi.json`)).json()) as Document
      const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id)
      assert.lengthOf([...new Set(ids)], ids.length, "ids are unique")
      for (const { path, method, operation } of operationsOf(document)) {
        const [, section = ""] =
          new RegExp(`<section [^>]*id="${operation.operationId}"(.*?)</section>`, "s").exec(html) ?? []
        const contract = allContracts.find((one) => one.path === path)
        assert.include(section, `${method}</span> <code>${path}</code>`)
        assert.include(
          section,
          contract === undefined ? ` <span class="scope">` : `scope <b>${contract.scope}</b>`,
          path
        )
        assert.match(section, new RegExp(`curl -sN? (?:&quot;)?<span data-origin>[^<]*</span>${path}\\b`))
      }
      const { schemas, responses } = document.components
      assert.includeMembers(ids, [
        ...Object.values(document.webhooks).map(({ post }) => post.operationId),
        ...Object.keys(schemas).map((name) => `schema-${name}`),
        ...Object.keys(responses).map((name) => `response-${name}`)
      ])
      const targets = [...html.matchAll(/ (?:href="#|data-of=")([^"]*)"/g)].map(([, id = ""]) => id)
      assert.isAbove(targets.length, 200)
      assert.includeMembers(ids, targets)
      const others = [...html.matchAll(/ href="([^#][^"]*)"/g)].map(([, address]) => address)
      assert.deepStrictEqual([...new Set(others)], ["data:,", "/openapi.json"])
    })
  })
}

describeInBrowser("/docs in a browser", (openPage) => {
  let server: Served
  beforeAll(async () => {
    server = await serveInProcess()
  }, START_MILLIS)
  afterAll(() => server.stop(), START_MILLIS)

  const opened = async (hash = "", options: Parameters<typeof openPage>[0] = {}) => {
    const page = await openPage(options)
    const seen: Array<string> = []
    page.on("request", (request) => seen.push(request.url()))
    page.on("console", (message) => seen.push(message.text()))
    await page.goto(`${server.url}/docs${hash}`)
    return { page, seen }
  }

  it("loads nothing else, logs nothing, and is ready at once", { timeout: START_MILLIS }, async () => {
    const page = await openPage()
    const seen: Array<string> = []
    page.on("request", (request) => seen.push(request.url()))
    page.on("console", (message) => seen.push(message.text()))
    const devTools = await page.context().newCDPSession(page)
    // CPU time, which a busy machine does not change.
    await devTools.send("Performance.enable", { timeDomain: "threadTicks" })
    await page.goto(`${server.url}/docs`)
    await page.getByRole("heading", { name: "List the rules" }).waitFor()
    const { metrics } = await devTools.send("Performance.getMetrics")
    assert.isBelow(metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0, 3)
    assert.deepStrictEqual(seen, [`${server.url}/docs`])
  })

  it("shows the operation of the address, and marks it in the list", { timeout: START_MILLIS }, async () => {
    const { page } = await opened("#checkRule")
    const isShown = `(() => { const { top } = document.getElementById("checkRule").getBoundingClientRect(); return top >= 0 && top < 100 })()`
    assert.isTrue(await page.evaluate(isShown))
    await page.locator('nav a[href="#checkRule"][aria-current]').waitFor()
    await page.getByRole("link", { name: "List the webhooks" }).first().click()
    assert.match(page.url(), /#listWebhooks$/)
    await page.locator('nav a[href="#listWebhooks"][aria-current]').waitFor()
  })

  it("opens the fields of a schema in place", { timeout: START_MILLIS }, async () => {
    const { page } = await opened("#getMatch")
    const operation = page.locator("#getMatch")
    await operation.getByText("Fields of Match", { exact: true }).click()
    await operation.getByText("Fields of XMatch", { exact: true }).click()
    await operation.getByText("platform_post_id").first().waitFor()
    await operation.getByText("Fields of XPayload", { exact: true }).click()
    await operation.getByText("Fields of XPost", { exact: true }).first().waitFor()
    const twice = `[...document.querySelectorAll("[id]")].length - new Set([...document.querySelectorAll("[id]")].map(({ id }) => id)).size`
    assert.strictEqual(await page.evaluate(twice), 0)
  })

  it("is searched from the keyboard: by names, else in the texts", { timeout: START_MILLIS }, async () => {
    const { page } = await opened()
    const found = () => page.locator("nav li:visible").allTextContents()
    const all = await found()
    await page.keyboard.press("/")
    await page.keyboard.type("keys/rotate")
    assert.deepStrictEqual(await found(), ["Replace the secret of a keyPOST"])
    await page.keyboard.press("Enter")
    assert.match(page.url(), /#rotateKey$/)
    await page.getByRole("searchbox").fill("whsec_")
    assert.includeMembers(await found(), ["Create a webhookPOST"])
    await page.getByRole("searchbox").fill("xyzzy")
    assert.deepStrictEqual(await found(), [])
    await page.getByText("Nothing found").waitFor()
    await page.getByRole("searchbox").fill("")
    assert.deepStrictEqual(await found(), all)
  })

  it("copies a request to this server", { timeout: START_MILLIS }, async () => {
    const { page } = await opened("", { permissions: ["clipboard-read", "clipboard-write"] })
    await page.locator("#listMatches").getByRole("button", { name: "Copy" }).first().click()
    await page.getByRole("button", { name: "Copied" }).waitFor()
    const copied = String(await page.evaluate("navigator.clipboard.readText()"))
    assert.match(copied, /^curl -s http:\/\/127\.0\.0\.1:\d+\/matches \\\n {2}-H "Authorization: Bearer \$KEY" \\\n/)
    assert.include(copied, `${server.url}/matches `)
  })

  it("has the theme of the console", { timeout: START_MILLIS }, async () => {
    const { page } = await opened()
    const scheme = () => page.evaluate("getComputedStyle(document.documentElement).colorScheme")
    assert.strictEqual(await scheme(), "light dark")
    await page.getByRole("button", { name: "Light or dark" }).click()
    assert.deepStrictEqual([await scheme(), await page.evaluate('localStorage["earshot.theme"]')], ["dark", "dark"])
    await page.reload()
    assert.strictEqual(await scheme(), "dark")
    await page.getByRole("button", { name: "Light or dark" }).click()
    assert.strictEqual(await page.evaluate('localStorage["earshot.theme"]'), "system")
  })

  it("works without JavaScript", { timeout: START_MILLIS }, async () => {
    const { page } = await opened("#schema-XPost", { javaScriptEnabled: false })
    await page.getByText("in_reply_to_user_id").waitFor()
    assert.strictEqual(await page.getByRole("button", { name: "Copy" }).count(), 0)
    await page.getByRole("link", { name: "Create a rule" }).first().click()
    assert.match(page.url(), /#createRule$/)
  })

  it("fits a phone, with the operations in a menu", { timeout: START_MILLIS }, async () => {
    const { page } = await opened("", { viewport: { width: 390, height: 844 } })
    assert.isAtMost(Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth")), 0)
    const link = page.locator('nav a[href="#createKey"]')
    assert.isFalse(await link.isVisible())
    await page.getByRole("button", { name: "Operations" }).click()
    await link.click()
    await link.waitFor({ state: "hidden" })
    assert.isTrue(await page.locator("#createKey-title").isVisible())
  })

  for (const [colorScheme, rules] of [
    ["light", undefined],
    ["dark", ["color-contrast"]]
  ] as const) {
    it(`has no problem of accessibility in ${colorScheme} colors`, { timeout: START_MILLIS }, async () => {
      const { page } = await opened("", { colorScheme })
      // The parts are alike, and axe takes minutes for all of them.
      const others = ".entry:not(:nth-of-type(16n + 1)), .list > details:nth-of-type(n + 5)"
      await page.evaluate(`document.querySelectorAll("${others}").forEach((part) => part.remove())`)
      await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true })')
      await page.evaluate(axe.source)
      const options = JSON.stringify(rules === undefined ? {} : { runOnly: rules })
      const { passes, violations } = (await page.evaluate(`axe.run(document, ${options})`)) as axe.AxeResults
      assert.isAtLeast(passes.length, rules?.length ?? 10, "axe has looked at the page")
      assert.deepStrictEqual(
        violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 120))]),
        []
      )
    })
  }
})
