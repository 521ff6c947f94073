/** Authentication: all refused keys get the same response, before the body is read. */
import { assert, describe, it } from "@effect/vitest"
import { assertError, OPERATIONS, type Target } from "./client.ts"
import { chunk, exchange, open, requestText } from "./raw.ts"

const wrongAuthorizations: ReadonlyArray<readonly [says: RegExp, headers: ReadonlyArray<string | undefined>]> = [
  [/^A valid API key is required: send it as the header Authorization: Bearer <API_KEY>$/, [undefined, ""]],
  [
    /^The header Authorization has no API key in the form Bearer <API_KEY>: send the word Bearer, a space and the key/,
    [
      "Bearer",
      "Bearer ",
      "Bearer  ",
      "Basic dXNlcjpwYXNz",
      "Bearer a b",
      "Bearer ümlaut",
      `Bearer ${"k".repeat(2000)}`,
      "es_00000000000000000000000000000000000000"
    ]
  ],
  [
    /^The API key is not known, has expired or was revoked: check that it is copied completely, or ask an admin/,
    // The second has the shape of our keys and a wrong checksum.
    ["Bearer unknown-key-of-nobody", "Bearer es_00000000000000000000000000000000000000"]
  ]
]

export const keyContract = (target: () => Target): void => {
  describe("the key", () => {
    it("is required by every operation; a missing, unreadable or refused one gets the same response, byte for byte", async () => {
      for (const [says, headers] of wrongAuthorizations) {
        const answers = new Set<string>()
        for (const [method, path] of [...OPERATIONS, ["POST", "/local/events"], ["GET", "/matches/stream"]] as const) {
          const send = async (authorization: string | undefined) => {
            const text = requestText(method, path, { authorization, "x-request-id": "same" })
            const answer = await exchange(target(), text)
            assert.isDefined(answer, `${path} ${authorization}`)
            assertError({ status: answer.status, body: JSON.parse(answer.body) }, 401, "unauthenticated", says)
            assert.strictEqual(answer.headers["www-authenticate"], "Bearer")
            answers.add(JSON.stringify({ ...answer, headers: { ...answer.headers, date: "" } }))
          }
          await Promise.all(headers.map(send))
        }
        assert.strictEqual(answers.size, 1, [...answers].join("\n"))
      }
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
