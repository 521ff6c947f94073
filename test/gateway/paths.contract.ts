/** Unknown paths, and methods that a path does not accept. */
import { assert, describe, it } from "@effect/vitest"
import type { RuntimeName } from "../program.ts"
import { answerOf, assertError, OPERATIONS, type Target } from "./client.ts"
import { exchange, requestText } from "./raw.ts"

const UNKNOWN = [
  "//",
  "///matches",
  "//evil.example/matches",
  "/%00",
  "/matches%00",
  "/matches/",
  "/matches/../nothing",
  "/api.createrule",
  "/API.CreateRule",
  "/apiXCreateRule",
  "/api%2ECreateRule",
  "/api/CreateRule",
  "/%6datches",
  "/%",
  "/%zz",
  "/..%2f..%2fetc%2fpasswd",
  "/docs/../../package.json",
  "/docs/page.js",
  "/trpc",
  "/constructor",
  "/__proto__",
  `/${"a".repeat(8000)}`
]

const PATHS = [
  ...OPERATIONS,
  ["POST", "/local/events"],
  ["GET", "/matches/stream"],
  ["GET", "/"],
  ["GET", "/openapi.json"],
  ["GET", "/docs"],
  ["GET", "/metrics"]
] as const

export const pathsContract = (target: () => Target, runtime: RuntimeName): void => {
  const authorization = () => `Bearer ${target().key}`

  const sendJson = async (method: string, path: string) => {
    const answer = await exchange(target(), requestText(method, path, { authorization: authorization() }), {
      bodiless: method === "HEAD"
    })
    assert.isDefined(answer, `${method} ${path.slice(0, 80)} gets a response`)
    assert.strictEqual(answer.headers["content-type"], "application/json", `${method} ${path.slice(0, 80)}`)
    assert.isDefined(answer.headers["x-request-id"])
    assert.strictEqual(answer.headers["x-content-type-options"], "nosniff")
    return { ...answer, body: method === "HEAD" ? {} : (JSON.parse(answer.body) as unknown) }
  }

  describe("a path", () => {
    for (const path of UNKNOWN) {
      it(`${path.slice(0, 40)} is not found, by GET and by POST`, async () => {
        for (const method of ["GET", "POST"]) {
          assertError(await sendJson(method, path), 404, "not_found", /^Cannot find path "/)
        }
      })
    }

    it("that is not found gets the nearest one named", async () => {
      const near = await sendJson("POST", "/api.CreateRules")
      assertError(
        near,
        404,
        "not_found",
        /^Cannot find path "\/api.CreateRules": did you mean "\/api.CreateRule"\? GET /
      )
      const far = await sendJson("POST", "/constructor")
      assertError(far, 404, "not_found", /^Cannot find path "\/constructor": GET \/openapi.json lists all paths/)
    })

    it("/ returns the server info with working links, without a key", async () => {
      const { status, body } = await answerOf(await fetch(`${target().url}/`))
      const { name, version, ...links } = body
      assert.deepStrictEqual([status, String(name)], [200, "Earshot"])
      assert.match(String(version), /^\d+\.\d+\.\d+$/)
      assert.containsAllKeys(links, ["docs", "openapi", "health"])
      for (const path of Object.values(links)) {
        const response = await fetch(target().url + String(path))
        await response.body?.cancel()
        assert.strictEqual(response.status, 200, String(path))
      }
    })

    it("is truncated in the error if it is long", async () => {
      const { body } = await sendJson("GET", `/${"a".repeat(8000)}`)
      assert.isBelow(JSON.stringify(body).length, 500)
    })

    for (const [method, path] of PATHS) {
      const right = method === "GET" ? ["GET", "HEAD"] : [method]
      const wrong = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"].filter(
        (other) => !right.includes(other)
      )
      it(`${path} accepts ${method} and responds to other methods with 405 and Allow`, async () => {
        for (const other of wrong) {
          const answer = await sendJson(other, path)
          assert.deepStrictEqual([answer.status, answer.headers["allow"]], [405, method], other)
          if (other !== "HEAD")
            assertError(answer, 405, "unimplemented", new RegExp(`does not accept ${other}: use ${method}`))
        }
      })
    }

    it("responds to HEAD like GET, without the body", async () => {
      for (const path of ["/api.ListRules", "/health/live"]) {
        const [head, get] = [await sendJson("HEAD", path), await sendJson("GET", path)]
        assert.deepStrictEqual([head.status, get.status], [200, 200], path)
      }
      const refused = await exchange(target(), requestText("HEAD", "/api.ListRules"), { bodiless: true })
      assert.strictEqual(refused?.status, 401)
    })

    it("refuses unknown and forbidden methods, and the server keeps running", async () => {
      for (const method of ["TRACE", "BREW", "get"]) {
        for (const path of ["/matches", "/trpc/rules.list"]) {
          const answer = await exchange(target(), requestText(method, path, { authorization: authorization() }))
          if (answer !== undefined) assert.include([400, 404, 405], answer.status, `${method} ${path} on ${runtime}`)
        }
      }
      assert.strictEqual((await sendJson("GET", "/api.ListRules")).status, 200)
    })

    it("may be in absolute form, and * is not a path", async () => {
      const absolute = `http://${target().host}:${target().port}/api.ListRules`
      assert.strictEqual((await sendJson("GET", absolute)).status, 200)
      const star = await exchange(target(), requestText("OPTIONS", "*"))
      if (star !== undefined) assert.include([400, 404, 405], star.status)
    })
  })
}
