/** The docs page loads everything from its own origin. Its appearance is not tested. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { RUNTIMES, type Served, START_MILLIS, serveOn } from "../program.ts"

for (const runtime of RUNTIMES) {
  describe(`/docs on ${runtime}`, { timeout: 30_000 }, () => {
    let running: Served | undefined
    beforeAll(async () => {
      running = await serveOn(runtime)
    }, START_MILLIS)
    afterAll(async () => {
      await running?.stop()
    }, START_MILLIS)

    const page = async () => {
      const response = await fetch(`${running?.url}/docs`)
      return { response, html: await response.text() }
    }

    it("is HTML with a request id and needs no key", async () => {
      const { response, html } = await page()
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers.get("content-type"), "text/html; charset=utf-8")
      assert.isNotEmpty(response.headers.get("x-request-id"))
      assert.match(html, /^<!doctype html>/)
      assert.include(html, "/openapi.json")
    })

    it("has a content security policy that allows no other host", async () => {
      const { response } = await page()
      const policy = new Map(
        (response.headers.get("content-security-policy") ?? "").split(";").map((directive) => {
          const [name = "", ...sources] = directive.trim().split(/\s+/)
          return [name, sources] as const
        })
      )
      assert.deepStrictEqual(policy.get("default-src"), ["'self'"])
      assert.deepStrictEqual(policy.get("frame-ancestors"), ["'none'"])
      assert.deepStrictEqual(policy.get("sandbox"), ["allow-scripts", "allow-popups"], "an origin of its own")
      policy.delete("sandbox")
      const own = ["'self'", "'none'", "'unsafe-inline'", "'unsafe-eval'", "data:", "blob:"]
      for (const [name, sources] of policy) assert.includeMembers(own, sources, name)
      for (const name of ["connect-src", "script-src"]) assert.notInclude(policy.get(name) ?? [], "data:", name)
    })

    it("refers to no other host and serves all its scripts", async () => {
      const { html } = await page()
      const links = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map((match) => match[1] ?? "")
      assert.isNotEmpty(links)
      for (const link of links.filter((link) => link !== "data:,")) {
        assert.match(link, /^\/[^/]/, "is a path of this origin")
        const response = await fetch(`${running?.url}${link}`)
        assert.strictEqual(response.status, 200, link)
        assert.match(response.headers.get("content-type") ?? "", /^text\/javascript/)
        assert.isNotEmpty(response.headers.get("x-request-id"))
        assert.isAbove((await response.text()).length, 100_000, "is the whole script")
      }
      assert.notMatch(html, /https?:\/\//)
    })
  })
}
