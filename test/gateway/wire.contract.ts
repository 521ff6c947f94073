/** Request ids, connection handling, and bytes that are not HTTP. */
import { maxHeaderSize } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import type { RuntimeName } from "../program.ts"
import { assertError, call, type Target } from "./client.ts"
import { chunk, exchange, open, requestText } from "./raw.ts"

export const wireContract = (target: () => Target, runtime: RuntimeName): void => {
  const keyed = (headers: Readonly<Record<string, string>> = {}) => ({
    authorization: `Bearer ${target().key}`,
    "content-type": "application/json",
    ...headers
  })

  describe("HTTP connections", () => {
    it("return a safe x-request-id, on success and on failure", async () => {
      for (const path of ["/api.ListRules", "/nowhere", "/trpc/rules.list"]) {
        for (const id of ["abc", "0192-ab.c:d_e", "a".repeat(128)]) {
          const answer = await exchange(target(), requestText("GET", path, keyed({ "x-request-id": id })))
          assert.strictEqual(answer?.headers["x-request-id"], id)
        }
      }
    })

    it("replace an unsafe x-request-id with a new unique one", async () => {
      const hostile = ["", "a b", '"><script>', "a".repeat(129), "{}", "%0d%0aset-cookie:x", "é"]
      const ids = new Set<string>()
      for (const id of hostile) {
        const answer = await exchange(target(), requestText("GET", "/api.ListRules", keyed({ "x-request-id": id })))
        assert.strictEqual(answer?.status, 200)
        assert.match(answer?.headers["x-request-id"] ?? "", /^[0-9a-f-]{36}-\d+$/)
        ids.add(answer?.headers["x-request-id"] ?? "")
      }
      assert.strictEqual(ids.size, hostile.length)
    })

    it("have a content-length, on success and on failure", async () => {
      for (const path of ["/api.ListRules", "/openapi.json", "/nowhere"]) {
        const answer = await exchange(target(), requestText("GET", path, keyed()))
        assert.strictEqual(answer?.headers["content-length"], String(Buffer.byteLength(answer?.body ?? "")), path)
        assert.isUndefined(answer?.headers["transfer-encoding"], path)
      }
    })

    it("support pipelining, in order", async () => {
      const connection = await open(target())
      const ids = ["one", "two", "three", "four"]
      const requests = ids.map((id, index) =>
        index % 2 === 0
          ? requestText("POST", "/matches", keyed({ "x-request-id": id }), "{}")
          : requestText("GET", "/nowhere", keyed({ "x-request-id": id }))
      )
      connection.write(requests.join(""))
      for (const [index, id] of ids.entries()) {
        const answer = await connection.answer()
        assert.deepStrictEqual([answer?.headers["x-request-id"], answer?.status], [id, index % 2 === 0 ? 200 : 404])
      }
      connection.destroy()
    })

    it("stay open after an error if the body was read", async () => {
      const connection = await open(target())
      for (const body of ["{", "[1]", "{}"]) {
        connection.write(requestText("POST", "/matches", keyed(), body))
        assert.strictEqual((await connection.answer())?.status, body === "{}" ? 200 : 400)
      }
      connection.destroy()
    })

    it("may close in the middle of a request", async () => {
      for (let i = 0; i < 10; i++) {
        const halfHead = await open(target())
        halfHead.write("POST /matches HTTP/1.1\r\nhost: a\r\ncontent-ty")
        const halfBody = await open(target())
        halfBody.write(requestText("POST", "/api.CreateRule", keyed({ "content-length": "100" }), '{"na'))
        const halfChunk = await open(target())
        halfChunk.write(requestText("POST", "/matches", keyed({ "transfer-encoding": "chunked" })) + chunk("{"))
        const noReader = await open(target())
        noReader.write(requestText("POST", "/platforms/syntax", keyed(), "{}"))
        for (const connection of [halfHead, halfBody, halfChunk, noReader]) connection.destroy()
      }
      assert.strictEqual((await call(target(), "/matches", {})).status, 200)
    })

    it("refuse conflicting lengths", async () => {
      const headers = keyed({ "content-length": "4", "transfer-encoding": "chunked" })
      const answer = await exchange(target(), requestText("POST", "/matches", headers, `${chunk("{}")}0\r\n\r\n`))
      if (answer !== undefined) assert.include([200, 400], answer.status)
      const twice = `POST /matches HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}`
      assert.notStrictEqual((await exchange(target(), twice))?.status, 200)
      assert.strictEqual((await call(target(), "/matches", {})).status, 200)
    })

    it("survive bytes that are not HTTP", async () => {
      for (const bytes of [
        "\x16\x03\x01\x02\x00\x01",
        "hello\r\n\r\n",
        "GET /\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "\r\n\r\n\0\0"
      ]) {
        const connection = await open(target())
        connection.write(bytes)
        connection.write("\r\n\r\n")
        const answer = await connection.answer()
        if (answer !== undefined) assert.include([400, 404, 505], answer.status, JSON.stringify(bytes))
        connection.destroy()
      }
      assert.strictEqual((await call(target(), "/matches", {})).status, 200)
    })

    const reason = "on Node; Deno's server responds itself"
    describe.skipIf(runtime === "deno")(`bytes that are not a request (${reason})`, () => {
      const refused = async (bytes: string, status: number) => {
        const answer = await exchange(target(), bytes)
        assert.isDefined(answer)
        assert.strictEqual(answer.headers["content-type"], "application/json")
        assert.isDefined(answer.headers["x-request-id"])
        assert.strictEqual(answer.headers["x-content-type-options"], "nosniff")
        assertError({ status: answer.status, body: JSON.parse(answer.body) }, status, "invalid_argument")
        assert.include(answer.body, `longer than ${maxHeaderSize / 1024} KiB`)
      }

      it("get 400 if they are not HTTP", () => refused("hello\r\n\r\n", 400))

      it("get 431 if the headers are too large", () =>
        refused(requestText("GET", "/api.ListRules", keyed({ "x-large": "a".repeat(20_000) })), 431))

      it("get 400 if the host is invalid", () =>
        refused(requestText("GET", "/api.ListRules", keyed({ host: "a b<>" })), 400))

      it("are served, or refused in JSON, if only the host is missing", async () => {
        const text = "GET /api.ListRules HTTP/1.1\r\n\r\n"
        const answer = await exchange(target(), text)
        assert.isDefined(answer)
        assert.include([400, 401], answer.status)
        assert.strictEqual(answer.headers["content-type"], "application/json")
      })
    })
  })
}
