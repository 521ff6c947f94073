/** The docs page runs in an origin of its own: its scripts cannot read the key that the console keeps. */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { describeInBrowser } from "../console/browser.ts"
import { type Served, START_MILLIS, serveInProcess } from "../program.ts"

describeInBrowser("/docs", (openPage) => {
  let running: Served | undefined
  beforeAll(async () => {
    running = await serveInProcess()
  }, START_MILLIS)
  afterAll(() => running?.stop(), START_MILLIS)

  it("shows the operations, and cannot read what the console stores", { timeout: START_MILLIS }, async () => {
    const page = await openPage()
    await page.goto(`${running?.url}/console`)
    await page.evaluate(
      'localStorage.setItem("earshot.key", "secret"); sessionStorage.setItem("earshot.key", "secret")'
    )
    await page.goto(`${running?.url}/docs`)
    await page.getByText("List the rules").first().waitFor()
    const read = await page.evaluate(`(() => {
      const frame = document.createElement("iframe")
      frame.src = "/console"
      document.body.append(frame)
      const attempt = (work) => { try { return String(work()) } catch { return "refused" } }
      return [
        attempt(() => localStorage.getItem("earshot.key")),
        attempt(() => sessionStorage.getItem("earshot.key")),
        attempt(() => frame.contentWindow.localStorage.getItem("earshot.key")),
        attempt(() => frame.contentDocument?.body),
        attempt(() => self.origin)
      ]
    })()`)
    assert.notInclude(JSON.stringify(read), "secret")
    assert.include(read, "null", "an opaque origin")
  })
})
