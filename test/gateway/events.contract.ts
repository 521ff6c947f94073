/** Publishing many events: all or nothing, and without blocking other requests. */
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { assertError, call, draft, firehoseUpdate, type Json, type Target, xPost } from "./client.ts"
import { exchange, requestText } from "./raw.ts"

const MAX_BYTES = 32 * 1_048_576
const MAX_LINE_BYTES = 1_048_576

export const eventsContract = (target: () => Target): void => {
  const send = (body: BodyInit, type = "application/x-ndjson") =>
    call(target(), "/local/events", undefined, {
      method: "POST",
      headers: { "content-type": type },
      body,
      // Required for a streamed body, but missing in the DOM types of fetch.
      ...{ duplex: "half" }
    })

  const withRule = async (words: string, test: (postIds: () => Promise<ReadonlyArray<string>>) => Promise<void>) => {
    const created = await call(target(), "/api.CreateRule", draft(words, ["x", "firehose"]))
    const rule_id = created.body["rule_id"]
    await test(async () => {
      const ids: Array<string> = []
      let cursor: Json | undefined
      do {
        const page = { rule_id, limit: 500, ...(cursor === undefined ? {} : { cursor }) }
        const { body } = await call(target(), "/matches", page)
        ids.push(...[...(body["matches"] ?? [])].map((match) => String(match["platform_post_id"])))
        cursor = body["next_cursor"]
      } while (cursor !== undefined)
      return ids
    })
    await call(target(), "/api.DeleteRule", { rule_id })
  }

  const issuesOf = (answer: { readonly body: Json }) =>
    [...(answer.body["details"]?.["issues"] ?? [])].map((issue) => [String(issue["path"]), String(issue["message"])])

  describe("NDJSON events", () => {
    it("may have a byte order mark, CRLF line ends, empty lines, and no final line end", () =>
      withRule("aurora", async (postIds) => {
        const lines = [xPost("a1", "aurora"), xPost("a2", "nothing"), xPost("a3", "aurora"), xPost("a4", "aurora")]
        const [first, second, third, fourth] = lines.map((line) => JSON.stringify(line))
        const answer = await send(`\ufeff\r\n${first}\r\n\r\n \t\n  ${second} \n\n\n${third}\r\n${fourth}`)
        assert.deepStrictEqual([answer.status, answer.body as unknown], [200, { accepted: { x: 4 }, matches: 3 }])
        assert.sameMembers([...(await postIds())], ["a1", "a3", "a4"])
      }))

    it("are refused if there are none", async () => {
      for (const body of ["", "\n", "\ufeff", " \r\n\r\n"]) {
        assertError(await send(body), 400, "invalid_argument", /has no events: send one JSON object per line/)
      }
      const noArray = await send(" [ ] ", "application/json")
      assertError(noArray, 400, "invalid_argument", /has no events: .* one object or an array/)
    })

    it("are refused if they are compressed with gzip", async () => {
      const gzipped = Uint8Array.from(gzipSync(JSON.stringify(xPost("z1", "halo"))))
      assertError(await send(gzipped), 400, "invalid_argument", /compressed with gzip: decompress it first/)
    })

    it("are refused with a hint if the content type is wrong or the line ends are missing", async () => {
      const lines = [xPost("h1", "halo"), xPost("h2", "halo")].map((event) => JSON.stringify(event))
      const hint = /Content-Type: application\/x-ndjson, and use curl --data-binary/
      const [lined, joined] = [lines.join("\n"), lines.join("")]
      assertError(await send(joined, "application/x-www-form-urlencoded"), 415, "invalid_argument", hint)
      assertError(await send(lined, "application/json"), 400, "invalid_argument", hint)
      assertError(await send(joined, "application/json"), 400, "invalid_argument", hint)
      assertError(await send(joined), 400, "invalid_argument", hint)
      const wrong = await send('{"data":', "application/json")
      assertError(wrong, 400, "invalid_argument", /not valid JSON: (?!.*curl)/)
    })

    it("are refused together, with an issue and a line number for each invalid line", () =>
      withRule("meteor", async (postIds) => {
        const good = JSON.stringify(xPost("m1", "meteor"))
        const long = JSON.stringify(xPost("m2", "meteor ".repeat(MAX_LINE_BYTES / 7)))
        const parts = [
          good,
          "",
          '{"data":',
          good,
          '{"data":{"id":"5"}}',
          "[]",
          long,
          good,
          '{"document":{}}',
          "\xff",
          good
        ]
        const answer = await send(Buffer.from(parts.join("\r\n"), "latin1"))
        assertError(answer, 400, "invalid_argument", /"line 3": Is not valid JSON: Unexpected end of JSON input: send/)
        assert.deepStrictEqual(
          issuesOf(answer).map(([path]) => path),
          ["line 3", "line 5", "line 6", "line 7", "line 9", "line 10"]
        )
        const [, noText, noEvent, tooLong, noUrl, noUtf8] = issuesOf(answer).map(([, message]) => message ?? "")
        assert.match(noText ?? "", /no "text"/)
        assert.match(noEvent ?? "", /Not an event/)
        assert.match(tooLong ?? "", /too long: at most 1048576 bytes/)
        assert.match(noUrl ?? "", /needs a "url"/)
        assert.match(noUtf8 ?? "", /UTF-8/)
        assert.deepStrictEqual(await postIds(), [])
      }))

    it("get at most 20 issues and a last one with the number of the others", async () => {
      const answer = await send("{\n".repeat(5_000))
      assertError(answer, 400, "invalid_argument")
      const issues = issuesOf(answer)
      assert.lengthOf(issues, 21)
      assert.strictEqual(issues[19]?.[0], "line 20")
      assert.deepStrictEqual(issues[20], ["", "4980 more issues are not shown"])
    })

    it("may have exactly 32 MiB, and not one byte more", async () => {
      const body = Buffer.alloc(MAX_BYTES, " ")
      body.write(JSON.stringify(xPost("a32", "nothing")))
      body.write("\n", 1_000)
      assert.strictEqual((await send(body)).status, 200)
      const headers = { "content-type": "application/x-ndjson", authorization: `Bearer ${target().key}` }
      const declared = { ...headers, "content-length": String(MAX_BYTES + 1) }
      const answer = await exchange(target(), requestText("POST", "/local/events", declared))
      assert.deepStrictEqual([answer?.status, answer?.headers["connection"]], [413, "close"])
      assert.match(answer?.body ?? "", /at most 33554432 bytes/)
    })

    it("do not block other requests while they are processed", () =>
      withRule("supernova", async (postIds) => {
        // Only the last event matches: the service must yield even if it does not wait for the store.
        const events = [
          ...Array.from({ length: 20_000 }, (_, index) =>
            xPost(
              `s${index}`,
              `Nothing in particular, number ${index}, and some more words to make it look like a post`
            )
          ),
          firehoseUpdate("http://supernova", "A supernova")
        ]
        const lines = events.map((event) => `${JSON.stringify(event)}\n`)
        const state = { isSent: false, isAnswered: false, others: 0 }
        const body = new ReadableStream<Uint8Array>({
          pull: (controller) => {
            const part = lines.splice(0, 1_000)
            if (part.length > 0) return controller.enqueue(new TextEncoder().encode(part.join("")))
            state.isSent = true
            return controller.close()
          }
        })
        const bulk = send(body).finally(() => {
          state.isAnswered = true
        })
        while (!state.isAnswered) {
          const wasSent = state.isSent
          assert.strictEqual((await call(target(), "/health/live")).status, 200)
          if (wasSent && !state.isAnswered) state.others++
        }
        assert.deepStrictEqual((await bulk).body as unknown, {
          accepted: { x: 20_000, firehose: 1 },
          matches: 1
        })
        // If they blocked, only the one that was under way would be answered.
        assert.isAbove(state.others, 1)
        assert.lengthOf(await postIds(), 1)
      }))
  })
}
