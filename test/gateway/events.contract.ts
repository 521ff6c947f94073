/** Events in bulk: every line is looked at before any is taken in, and others are served meanwhile. */
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
      // Needed for a body that is a stream; not in the types of the browser's fetch.
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

  describe("events in bulk", () => {
    it("may begin with a byte order mark, end lines as Windows does, hold empty ones, and lack the last end", () =>
      withRule("aurora", async (postIds) => {
        const lines = [xPost("a1", "aurora"), xPost("a2", "nothing"), xPost("a3", "aurora"), xPost("a4", "aurora")]
        const [first, second, third, fourth] = lines.map((line) => JSON.stringify(line))
        const answer = await send(`\ufeff\r\n${first}\r\n\r\n \t\n  ${second} \n\n\n${third}\r\n${fourth}`)
        assert.deepStrictEqual([answer.status, answer.body as unknown], [200, { accepted: { x: 4 }, matches: 3 }])
        assert.sameMembers([...(await postIds())], ["a1", "a3", "a4"])
      }))

    it("are at least one: a body without any is refused, and says what is expected", async () => {
      for (const body of ["", "\n", "\ufeff", " \r\n\r\n"]) {
        assertError(await send(body), 400, "invalid_argument", /holds no event: send one JSON object a line/)
      }
      const noArray = await send(" [ ] ", "application/json")
      assertError(noArray, 400, "invalid_argument", /holds no event: .* one or an array of them/)
    })

    it("packed with gzip are refused in words", async () => {
      const packed = Uint8Array.from(gzipSync(JSON.stringify(xPost("z1", "halo"))))
      assertError(await send(packed), 400, "invalid_argument", /packed with gzip: send it unpacked/)
    })

    it("sent as another type, or without their line ends, are refused with how to send them", async () => {
      const lines = [xPost("h1", "halo"), xPost("h2", "halo")].map((event) => JSON.stringify(event))
      const how = /Content-Type: application\/x-ndjson, and with curl --data-binary/
      const [whole, torn] = [lines.join("\n"), lines.join("")]
      assertError(await send(torn, "application/x-www-form-urlencoded"), 415, "invalid_argument", how)
      assertError(await send(whole, "application/json"), 400, "invalid_argument", how)
      assertError(await send(torn, "application/json"), 400, "invalid_argument", how)
      assertError(await send(torn), 400, "invalid_argument", how)
      const wrong = await send('{"data":', "application/json")
      assertError(wrong, 400, "invalid_argument", /not valid JSON: (?!.*curl)/)
    })

    it("are refused together, with an issue for each line that is wrong, counted as an editor does", () =>
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
        assertError(answer, 400, "invalid_argument", /"line 3": Is not valid JSON/)
        assert.deepStrictEqual(
          issuesOf(answer).map(([path]) => path),
          ["line 3", "line 5", "line 6", "line 7", "line 9", "line 10"]
        )
        const [, noText, noEvent, tooLong, noUrl, noUtf8] = issuesOf(answer).map(([, message]) => message ?? "")
        assert.match(noText ?? "", /no "text"/)
        assert.match(noEvent ?? "", /Not an event/)
        assert.match(tooLong ?? "", /too long: at most 1048576 bytes/)
        assert.match(noUrl ?? "", /no "url"/)
        assert.match(noUtf8 ?? "", /UTF-8/)
        assert.deepStrictEqual(await postIds(), [])
      }))

    it("get at most a hundred issues, and a last one that says how many are not told", async () => {
      const answer = await send("{\n".repeat(5_000))
      assertError(answer, 400, "invalid_argument")
      const issues = issuesOf(answer)
      assert.lengthOf(issues, 101)
      assert.strictEqual(issues[99]?.[0], "line 100")
      assert.deepStrictEqual(issues[100], ["", "4900 more events are not valid"])
    })

    it("may be 32 MiB, and not one byte more", async () => {
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

    it("leave the others their turn: the service answers while it works on many", () =>
      withRule("supernova", async (postIds) => {
        // All but the last meet no rule: waiting for the store must not be what gives the others their turn.
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
        assert.isAbove(state.others, 3)
        assert.lengthOf(await postIds(), 1)
      }))
  })
}
