/** Who may call: no key, a malformed, an unknown and a mistyped one are refused alike, and before the body is read. */
import { assert, describe, it } from "@effect/vitest"
import { assertError, OPERATIONS, type Target } from "./client.ts"
import { chunk, exchange, open, requestText } from "./raw.ts"

/** Each of them opens nothing. The last has the shape of our keys and a wrong checksum. */
const WRONG_AUTHORIZATIONS: ReadonlyArray<string | undefined> = [
  undefined,
  "",
  "Bearer",
  "Bearer ",
  "Bearer  ",
  "Basic dXNlcjpwYXNz",
  "Bearer a b",
  "Bearer unknown-key-of-nobody",
  "Bearer ümlaut",
  `Bearer ${"k".repeat(2000)}`,
  "Bearer es_00000000000000000000000000000000000000",
  "es_00000000000000000000000000000000000000"
]

export const keyContract = (target: () => Target): void => {
  describe("the key", () => {
    it("is asked for by every operation, and every wrong one gets the same answer, byte for byte", async () => {
      const answers = new Set<string>()
      for (const [method, path] of [...OPERATIONS, ["POST", "/local/events"], ["GET", "/matches/stream"]] as const) {
        for (const authorization of WRONG_AUTHORIZATIONS) {
          const text = requestText(method, path, { authorization, "x-request-id": "same" })
          const answer = await exchange(target(), text)
          assert.isDefined(answer, `${path} ${authorization}`)
          assertError({ status: answer.status, body: JSON.parse(answer.body) }, 401, "unauthenticated", /Bearer/)
          assert.strictEqual(answer.headers["www-authenticate"], "Bearer")
          answers.add(JSON.stringify({ ...answer, headers: { ...answer.headers, date: "" } }))
        }
      }
      assert.strictEqual(answers.size, 1, [...answers].join("\n"))
    })

    it("may be given with the scheme in any case and several spaces", async () => {
      for (const scheme of ["Bearer ", "bearer ", "BEARER   "]) {
        const authorization = scheme + target().key
        const answer = await exchange(target(), requestText("GET", "/api.ListRules", { authorization }))
        assert.strictEqual(answer?.status, 200, scheme)
      }
    })

    it("is not looked for in the query or the body", async () => {
      const inQuery = await exchange(target(), requestText("GET", `/api.ListRules?api_key=${target().key}`))
      assert.strictEqual(inQuery?.status, 401)
      const body = JSON.stringify({ authorization: `Bearer ${target().key}` })
      const headers = { "content-type": "application/json" }
      assert.strictEqual((await exchange(target(), requestText("POST", "/matches", headers, body)))?.status, 401)
    })

    for (const path of ["/api.CreateRule", "/local/events", "/trpc/rules.create"]) {
      it(`is checked before the body is read: ${path} answers a wrong one while the body has no end`, async () => {
        const connection = await open(target())
        const headers = {
          "content-type": "application/json",
          "transfer-encoding": "chunked",
          authorization: "Bearer no"
        }
        connection.write(requestText("POST", path, headers))
        connection.write(chunk('{"name":"'))
        assert.strictEqual((await connection.answer())?.status, 401)
        connection.destroy()
      })
    }
  })
}
