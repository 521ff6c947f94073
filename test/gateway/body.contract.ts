/** Invalid bodies: not a JSON object, not JSON, not UTF-8, or too large. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { assertError, call, draft, OPERATIONS, POST_PATHS, type Target } from "./client.ts"
import { chunk, exchange, LAST_CHUNK, open, requestText } from "./raw.ts"

const MAX_BYTES = 1_048_576

export const bodyContract = (target: () => Target): void => {
  const send = (path: string, body: BodyInit | null, contentType = "application/json") =>
    call(target(), path, undefined, { method: "POST", headers: { "content-type": contentType }, body })

  const sendRaw = (path: string, headers: Readonly<Record<string, string | undefined>>, body: string) =>
    exchange(target(), requestText("POST", path, { authorization: `Bearer ${target().key}`, ...headers }, body))

  describe("a body", () => {
    for (const path of POST_PATHS) {
      it(`${path} refuses a value that is not a JSON object`, async () => {
        for (const body of ["[1]", "[]", "null", '"abc"', "42", "true", "1e999"]) {
          assertError(await send(path, body), 400, "invalid_argument", /Expected an object, got /)
        }
      })

      it(`${path} refuses an empty body and invalid JSON`, async () => {
        for (const body of ["", " \n"]) assertError(await send(path, body), 400, "invalid_argument", /body is empty/)
        for (const body of ["{", '{"a":1,}', "{'a':1}", "NaN", "\ufeff\ufeff{}", '{"limit":5}{"limit":6}']) {
          assertError(await send(path, body), 400, "invalid_argument", /not valid JSON/)
        }
        assertError(await send(path, `${"[".repeat(200_000)}`), 400, "invalid_argument", /not valid JSON/)
        const deep = await send(path, `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)
        assertError(deep, 400, "invalid_argument")
      })

      it(`${path} refuses a missing body of any content type, and suggests {} if all fields are optional`, async () => {
        const allIsOptional = ["/matches", "/matches/wait", "/matches/histogram", "/platforms/syntax"].includes(path)
        const message = allIsOptional
          ? /body is empty: .*, or {} for the defaults$/
          : /body is empty: send JSON as [\w/]+$/
        for (const type of [undefined, "application/json", "application/x-www-form-urlencoded"]) {
          for (const length of [undefined, "0"]) {
            const answer = await sendRaw(path, { "content-type": type, "content-length": length }, "")
            assert.isDefined(answer)
            const body: unknown = JSON.parse(answer.body)
            assertError({ status: answer.status, body }, 400, "invalid_argument", message)
          }
        }
      })

      it(`${path} refuses a body that is not UTF-8`, async () => {
        const bytes = new Uint8Array([...Buffer.from('{"name":"'), 0xff, 0xfe, ...Buffer.from('"}')])
        assertError(await send(path, bytes), 400, "invalid_argument", /not valid UTF-8/)
      })

      it(`${path} refuses another content type and names the expected one`, async () => {
        const types = [
          "text/plain",
          "application/jsonp",
          "application/x-www-form-urlencoded",
          "json",
          "application/json5"
        ]
        for (const type of [...types, undefined, "", "; charset=utf-8"]) {
          const answer = await sendRaw(path, { "content-type": type }, "{}")
          assert.isDefined(answer)
          const body: unknown = JSON.parse(answer.body)
          assertError(
            { status: answer.status, body },
            415,
            "invalid_argument",
            /Content-Type must be application\/json/
          )
        }
      })
    }

    it("accepts the content type in any case and with a charset", async () => {
      for (const type of ["Application/JSON", "application/json; charset=utf-8", "APPLICATION/JSON;charset=UTF-8 "]) {
        assert.strictEqual((await send("/matches", "{}", type)).status, 200, type)
      }
    })

    it("preserves every character", async () => {
      const name = "Zoë 💥 \u202e <script> \u0001 \\ \" '"
      const created = await call(target(), "/api.CreateRule", { ...draft("characters"), name })
      const listed = await call(target(), "/api.ListRules")
      const [rule] = listed.body["rules"] ?? []
      assert.strictEqual(String(rule?.["name"]), name)
      await call(target(), "/api.DeleteRule", { rule_id: created.body["rule_id"] })
    })

    it("may have exactly 1 MiB, with a length or chunked, and not one byte more", async () => {
      const body = `{"limit":1${" ".repeat(MAX_BYTES - 11)}}`
      assert.strictEqual(Buffer.byteLength(body), MAX_BYTES)
      const headers = { "content-type": "application/json", authorization: `Bearer ${target().key}` }
      const chunked = { ...headers, "transfer-encoding": "chunked" }
      const asChunks = (text: string) =>
        requestText("POST", "/matches", chunked) +
        chunk(text.slice(0, 500_000)) +
        chunk(text.slice(500_000)) +
        LAST_CHUNK
      for (const text of [requestText("POST", "/matches", headers, body), asChunks(body)]) {
        assert.strictEqual((await exchange(target(), text))?.status, 200)
      }
      for (const text of [requestText("POST", "/matches", headers, `${body} `), asChunks(`${body} `)]) {
        const answer = await exchange(target(), text)
        assert.isDefined(answer)
        const body: unknown = JSON.parse(answer.body)
        assertError({ status: answer.status, body }, 413, "invalid_argument", /at most 1048576 bytes/)
      }
    })

    for (const path of [...POST_PATHS, "/local/events", "/trpc/rules.create"]) {
      it(`${path} responds 413 to a too large content-length before the body is sent`, async () => {
        const headers = { "content-type": "application/json", "content-length": "1048577" }
        const answer = await sendRaw(path, headers, "")
        assert.strictEqual(answer?.status, 413)
        assert.strictEqual(answer?.headers["connection"], "close")
        assert.strictEqual((await call(target(), "/matches", {})).status, 200)
      })

      it(`${path} responds 413 to endless chunks and keeps serving`, async () => {
        const connection = await open(target())
        const headers = { "content-type": "application/json", "transfer-encoding": "chunked" }
        connection.write(requestText("POST", path, { ...headers, authorization: `Bearer ${target().key}` }))
        for (let sent = 0; sent <= MAX_BYTES; sent += 65_536) connection.write(chunk(" ".repeat(65_536)))
        assert.strictEqual((await connection.answer())?.status, 413)
        assert.strictEqual((await call(target(), "/matches", {})).status, 200)
        connection.destroy()
      })
    }

    for (const [method, path] of [...OPERATIONS, ["POST", "/local/events"] as const]) {
      const documented = async (answer: Awaited<ReturnType<typeof call>>) => {
        if (answer.status === 200) return
        assert.isBelow(answer.status, 500, JSON.stringify(answer.body))
        assertError(answer, answer.status, String(answer.body["code"]))
      }

      it(`${method} ${path} responds in the documented shape to any JSON and any text`, async () => {
        const likely = fc.record(
          {
            name: fc.anything(),
            intent: fc.string(),
            platforms: fc.oneof(fc.array(fc.constantFrom("x", "firehose", "y")), fc.anything()),
            overrides: fc.oneof(fc.dictionary(fc.constantFrom("x", "firehose"), fc.fullUnicodeString()), fc.anything()),
            rule_id: fc.oneof(fc.string(), fc.anything()),
            limit: fc.oneof(fc.integer(), fc.double(), fc.anything()),
            events: fc.oneof(fc.dictionary(fc.constantFrom("x", "firehose"), fc.anything()), fc.anything()),
            backtest: fc.oneof(fc.record({ events: fc.integer(), samples: fc.nat({ max: 20 }) }), fc.anything()),
            cursor: fc.anything(),
            platform: fc.anything()
          },
          { requiredKeys: [] }
        )
        const body = fc.oneof(
          fc.json(),
          fc.fullUnicodeString(),
          fc.string16bits(),
          likely.map((value) =>
            JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? Number(inner) : inner))
          )
        )
        await fc.assert(
          fc.asyncProperty(body, async (text) => {
            // {} is valid and would wait for the default timeout.
            const body = path === "/matches/wait" && /^\s*{\s*}\s*$/.test(text) ? '{"timeout_seconds":1}' : text
            if (method === "POST") return documented(await send(path, body))
            const query = new URLSearchParams({ [text]: text }).toString()
            return documented(await call(target(), `${path}?${query}`))
          }),
          { numRuns: 40 }
        )
      })
    }
  })
}
