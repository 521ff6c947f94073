/** `POST /rules/compare`, `GET /matches/get` and `at_least` of `POST /matches/wait`, over REST and tRPC. */
import { assert, layer as withLayer } from "@effect/vitest"
import { createTRPCClient, httpLink } from "@trpc/client"
import { Effect } from "effect"
import type { FilterComparison } from "../../core/comparison/compareFilter.ts"
import type { AppRouter } from "../../gateway/trpc/router.ts"
import { localPlatforms } from "../platforms.ts"
import { assertError, call, draft, type Target, xPost } from "./client.ts"
import { serve, serviceOn } from "./inProcess.ts"

withLayer(serviceOn(localPlatforms()), { excludeTestServices: true, timeout: "240 seconds" })(
  "a filter and single matches",
  (it) => {
    const test = (title: string, body: (ann: Target, bob: Target, reader: Target) => Promise<void>) =>
      it.scoped(title, () =>
        Effect.gen(function* () {
          const as = yield* serve
          const [ann, bob, reader] = [yield* as(title), yield* as(`not ${title}`), yield* as(title, "read")]
          yield* Effect.promise(() => body(ann, bob, reader))
        })
      )

    test("compare tells what is kept, lost and gained of stored matches and recent events", async (ann, bob, reader) => {
      // Before the rule: recent events that are no stored matches.
      await publish(ann, ["comet old", "comet old rain", "asteroid"])
      const rule_id = await newRule(ann, "comet OR nothing")
      await publish(ann, ["comet one", "comet rain", "comet rain two", "meteor", "sun"])
      await publish(bob, ["comet of bob"])
      const request = { rule_id, overrides: { x: "(comet OR meteor) -rain" }, samples: 2 }
      const { platforms } = await compared(reader, request)
      assert.deepStrictEqual(await clientOf(reader).rules.compareFilter.query(request), { rule_id, platforms } as never)
      const { lost, gained, kept, basis, incomplete, present, candidate } = platforms["x"] ?? assert.fail()
      assert.deepStrictEqual([present, candidate], ["comet OR nothing", "(comet OR meteor) -rain"])
      assert.deepStrictEqual(kept, { count: 2, stored: 1 })
      assert.deepStrictEqual([lost.count, lost.stored, lost.decided_by], [3, 2, [{ clause: "rain", count: 3 }]])
      assert.deepStrictEqual(lost.samples.map(textOf), ["comet rain two", "comet rain"], "stored matches first")
      assert.match(String(lost.samples[0]?.match_id), /^match_/)
      assert.deepStrictEqual([gained.count, gained.stored, gained.samples.map(textOf)], [1, 0, ["meteor"]])
      assert.deepStrictEqual(gained.decided_by, [{ clause: "comet", count: 1 }])
      assert.strictEqual(incomplete, undefined)
      assert.deepStrictEqual([basis.stored.tested, basis.recent.tested, basis.recent.basis], [3, 5, "all_events"])
      assert.deepStrictEqual(basis.not_covered, [])
      assert.isAtMost(Date.now() - Date.parse(basis.stored.from ?? ""), 60_000)

      await call(ann, "/api.UpdateRule", { rule_id, overrides: { x: "comet" } })
      await publish(ann, ["comet three"])
      const later = (await compared(ann, { rule_id, overrides: { x: "three" }, matches: 1, events: 0 })).platforms["x"]
      assert.deepStrictEqual(later?.kept, { count: 1, stored: 1 })
      assert.deepStrictEqual(later?.basis.not_covered, [
        "Older matches: only the newest 1 were tested",
        "Recent events: none were tested"
      ])
      const versions = (await compared(ann, { rule_id, overrides: { x: "three" } })).platforms["x"]
      assert.deepStrictEqual([versions?.basis.stored.tested, versions?.kept.stored], [1, 1])
      assert.deepStrictEqual(versions?.basis.not_covered, [
        "Matches of versions before 2, in which the rule had another filter on x"
      ])
    })

    test("compare says what is wrong with a request, and stores nothing", async (ann, bob) => {
      const rule_id = await newRule(ann, "comet")
      for (const [request, message] of [
        [{ rule_id, overrides: { firehose: "comet" } }, /"overrides.firehose": The rule does not watch "firehose"/],
        [{ rule_id, overrides: {} }, /"overrides": Is empty/],
        [{ rule_id, overrides: { x: "comet lnag:en" } }, /"overrides.x": Unknown operator/],
        [{ rule_id }, /"overrides": Is missing/],
        [{ rule_id, overrides: { x: "comet" }, matches: 10_001 }, /"matches": Expected a whole number from 0 to 10000/],
        [{ rule_id, overrides: { x: "comet" }, events: -1 }, /"events": Expected a whole number from 0 to 100000/],
        [{ rule_id, overrides: { x: "comet" }, samples: 21 }, /"samples": Expected a whole number from 0 to 20/]
      ] as const) {
        assertError(await call(ann, "/rules/compare", request), 400, "invalid_argument", message)
      }
      for (const id of [rule_id, "rule_unknown"]) {
        assertError(await call(bob, "/rules/compare", { rule_id: id, overrides: { x: "comet" } }), 404, "not_found")
      }
      assert.strictEqual(Number((await call(ann, `/api.GetRule?rule_id=${rule_id}`)).body["rule"]?.["version"]), 1)
    })

    test("get returns one match, and none of another account", async (ann, bob, reader) => {
      const rule_id = await newRule(ann, "comet")
      await publish(ann, ["comet one", "comet two"])
      const [, first] = [...((await call(ann, "/matches", { rule_id })).body["matches"] ?? [])]
      const match_id = String(first?.["id"])
      const { body } = await call(reader, `/matches/get?match_id=${match_id}`)
      assert.deepStrictEqual<unknown>(body, { match: first })
      assert.deepStrictEqual<unknown>(await clientOf(reader).matches.get.query({ match_id }), body)
      for (const [target, id] of [
        [bob, match_id],
        [ann, "match_unknown"],
        [ann, match_id.replace(/.$/, (last) => (last === "0" ? "1" : "0"))]
      ] as const) {
        const refused = await call(target, `/matches/get?match_id=${id}`)
        assertError(refused, 404, "not_found", new RegExp(id))
      }
      assertError(await call(ann, "/matches/get"), 400, "invalid_argument", /"match_id": Is missing/)
    })

    test("wait returns at_least so many matches, or those that came", async (ann) => {
      const rule_id = await newRule(ann, "comet")
      const start = (await call(ann, "/matches/wait", { timeout_seconds: 1 })).body["cursor"]
      const wait = async (request: object) => {
        const { status, body } = await call(ann, "/matches/wait", { rule_id, cursor: start, ...request })
        assert.strictEqual(status, 200, JSON.stringify(body))
        return [[...(body["matches"] ?? [])].length, body["timed_out"]] as const
      }
      const three = wait({ at_least: 3, timeout_seconds: 30 })
      await publish(ann, ["comet one"])
      await publish(ann, ["comet two", "comet three"])
      assert.deepStrictEqual<unknown>(await three, [3, false])
      assert.deepStrictEqual<unknown>(await wait({ at_least: 4, timeout_seconds: 1 }), [3, true])
      assert.deepStrictEqual<unknown>(await wait({ at_least: 2, limit: 2, timeout_seconds: 5 }), [2, false])
      await publish(
        ann,
        Array.from({ length: 40 }, (_, i) => `comet ${i}`)
      )
      assert.deepStrictEqual<unknown>(await wait({ at_least: 30, timeout_seconds: 5 }), [30, false], "more than 20")
      assert.deepStrictEqual<unknown>(await wait({ timeout_seconds: 5 }), [20, false])
      for (const [request, message] of [
        [{ at_least: 5, limit: 4 }, /"at_least": Expected at most 4, which is the limit/],
        [{ at_least: 51 }, /"at_least": Expected a whole number from 1 to 50, got 51/],
        [{ at_least: 0 }, /"at_least": Expected a whole number from 1 to 50, got 0/],
        [{ limit: 101 }, /"limit": Expected a whole number from 1 to 100, got 101/]
      ] as const) {
        assertError(await call(ann, "/matches/wait", { rule_id, ...request }), 400, "invalid_argument", message)
      }
    })
  }
)

// ---- helpers ----

let posts = 0
const publish = (target: Target, texts: ReadonlyArray<string>) =>
  call(
    target,
    "/local/events",
    texts.map((text) => xPost(String(++posts), text))
  )

const newRule = async (target: Target, filter: string) =>
  String((await call(target, "/api.CreateRule", draft(filter, ["x"]))).body["rule_id"])

interface Compared {
  readonly platforms: Readonly<Record<string, FilterComparison>>
}

const compared = async (target: Target, request: object): Promise<Compared> => {
  const { status, body } = await call(target, "/rules/compare", request)
  assert.strictEqual(status, 200, JSON.stringify(body))
  return body as unknown as Compared
}

const textOf = ({ payload }: { readonly payload: Readonly<Record<string, unknown>> }): unknown =>
  (payload["data"] as { readonly text?: string }).text

const clientOf = (target: Target) =>
  createTRPCClient<AppRouter>({
    links: [httpLink({ url: `${target.url}/trpc`, headers: { authorization: `Bearer ${target.key}` } })]
  })
