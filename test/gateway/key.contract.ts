/** Authentication: all invalid keys get the same response, before the body is read. */
import { assert, describe, it } from "@effect/vitest"
import { assertError, OPERATIONS, type Target } from "./client.ts"
import { chunk, exchange, open, requestText } from "./raw.ts"

/** The last two have the shape of our keys and a wrong checksum. */
const wrongAuthorizations: ReadonlyArray<string | undefined> = [
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
    it("is required by every operation, and every invalid one gets the same response, byte for byte", async () => {
      const answers = new Set<string>()
      for (const [method, path] of [...OPERATIONS, ["POST", "/local/events"], ["GET", "/matches/stream"]] as const) {
        for (const authorization of wrongAuthorizations) {
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

    it("may have the scheme in any case and several spaces", async () => {
      for (const scheme of ["Bearer ", "bearer ", "BEARER   "]) {
        const authorization = scheme + target().key
        const answer = await exchange(target(), requestText("GET", "/api.ListRules", { authorization }))
        assert.strictEqual(answer?.status, 200, scheme)
      }
    })

    it("is not read from the query or the body", async () => {
      const inQuery = await exchange(target(), requestText("GET", `/api.ListRules?api_key=${target().key}`))
      assert.strictEqual(inQuery?.status, 401)
      const body = JSON.stringify({ authorization: `Bearer ${target().key}` })
      const headers = { "content-type": "application/json" }
      assert.strictEqual((await exchange(target(), requestText("POST", "/matches", headers, body)))?.status, 401)
    })

    for (const path of ["/api.CreateRule", "/local/events", "/trpc/rules.create"]) {
      it(`is checked before the body is read in ${path}`, async () => {
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
