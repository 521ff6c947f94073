/** The activity of rules, the deletion of several and pages of TanStack Query, over REST and tRPC. */
import { assert, layer as withLayer } from "@effect/vitest"
import { InfiniteQueryObserver, QueryClient } from "@tanstack/react-query"
import { createTRPCClient, httpLink } from "@trpc/client"
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query"
import { Effect } from "effect"
import type { AppRouter } from "../../gateway/trpc/router.ts"
import { localPlatforms } from "../platforms.ts"
import { assertError, call, draft, type Json, type Target, xPost } from "./client.ts"
import { serve, serviceOn } from "./inProcess.ts"

withLayer(serviceOn(localPlatforms()), { excludeTestServices: true, timeout: "240 seconds" })(
  "rules with their activity",
  (it) => {
    const test = (title: string, body: (ann: Target, bob: Target, reader: Target) => Promise<void>) =>
      it.scoped(title, () =>
        Effect.gen(function* () {
          const as = yield* serve
          const [ann, bob, reader] = [yield* as(title), yield* as(`not ${title}`), yield* as(title, "read")]
          yield* Effect.promise(() => body(ann, bob, reader))
        })
      )

    test("are listed, searched, filtered and sorted, as tRPC does", async (ann, bob, reader) => {
      const [storm, flood, paused] = [
        await newRule(ann, "storm"),
        await newRule(ann, "flood"),
        await newRule(ann, "no")
      ]
      await newRule(bob, "storm")
      await call(ann, "/api.PauseRule", { rule_id: paused })
      await call(ann, "/local/events", [xPost("1", "storm one"), xPost("2", "storm two"), xPost("3", "flood")])
      const list = async (query: string) => {
        const { status, body } = await call(reader, `/api.ListRules?${query}`)
        assert.strictEqual(status, 200, JSON.stringify(body))
        return [...(body["rules"] ?? [])]
      }
      assert.isFalse(
        (await list("")).some((rule) => "activity" in rule),
        "only on request"
      )
      const listed = await list("activity=true")
      assert.deepStrictEqual(idsOf(listed), [paused, flood, storm])
      const [ofPaused, , ofStorm] = listed.map((rule) => rule["activity"] as unknown as Record<string, unknown>)
      const { last_match_at, ...counts } = ofStorm ?? {}
      assert.deepStrictEqual(counts, { matches_hour: 2, matches_day: 2, state: "active" })
      const ago = Date.now() - Date.parse(String(last_match_at))
      assert.isTrue(ago >= 0 && ago < 120_000, "to the minute")
      assert.deepStrictEqual(ofPaused, {
        matches_hour: 0,
        matches_day: 0,
        state: "paused",
        reason: "The account paused the rule"
      })
      assert.deepStrictEqual(idsOf(await list("sort=matches_day")), [storm, flood, paused])
      assert.deepStrictEqual(idsOf(await list("sort=last_match&limit=1")), [paused])
      assert.deepStrictEqual(idsOf(await list("state=paused")), [paused])
      assert.deepStrictEqual(idsOf(await list("quiet_for=1m")), [])
      assert.deepStrictEqual(idsOf(await list("query=FLOO")), [flood])
      const { body } = await call(reader, `/api.GetRule?rule_id=${storm}&activity=true`)
      assert.deepStrictEqual(body["rule"], listed[2])
      const client = clientOf(reader)
      assert.deepStrictEqual<unknown>((await client.rules.list.query({ activity: true })).rules, listed)
      assert.deepStrictEqual<unknown>(
        (await client.rules.get.query({ rule_id: storm, activity: true })).rule,
        listed[2]
      )
    })

    test("say what is wrong with a request", async (ann) => {
      for (const [query, message] of [
        ["activity=yes", /"activity": Expected true or false, got a string/],
        ["sort=name", /"sort": Expected one of "created", "last_match", "matches_day", got "name"/],
        ["state=idle", /"state": Expected one of "active", "failed", "paused"/],
        ["quiet_for=7", /"quiet_for": Expected a number of minutes, hours or days such as 30m, 12h or 7d, got "7"/],
        ["quiet_for=0d", /"quiet_for": Expected/],
        ["quiet_for=99999d", /"quiet_for": Expected/],
        [`sort=last_match&cursor=rule_01kzyn3v8jf9g8w3q5r7t2x4c6`, /"cursor": Leave it out/],
        ["activty=true", /"activty": Is not a known field: did you mean "activity"\?/]
      ] as const) {
        assertError(await call(ann, `/api.ListRules?${query}`), 400, "invalid_argument", message)
      }
    })

    test("are all sent in parts if a filter leaves out whole pages", async (ann) => {
      const quiet: Array<string> = []
      for (let i = 0; i < 120; i++) quiet.push(await newRule(ann, i === 0 ? "needle" : "hay"))
      const found = await call(ann, "/api.ListRules?query=needle")
      assert.deepStrictEqual(idsOf([...(found.body["rules"] ?? [])]), quiet.slice(0, 1))
      const all = await call(ann, "/api.ListRules?query=hay&activity=true")
      assert.deepStrictEqual(idsOf([...(all.body["rules"] ?? [])]), quiet.slice(1).toReversed())
      const none = await call(ann, "/api.ListRules?query=nothing")
      assert.deepStrictEqual<unknown>(none.body, { rules: [] })
    })

    test("are deleted together, after a preview", async (ann, bob, reader) => {
      const [storm, flood, kept] = [
        await newRule(ann, "storm"),
        await newRule(ann, "flood"),
        await newRule(ann, "kept")
      ]
      const foreign = await newRule(bob, "storm")
      await call(ann, "/local/events", [xPost("1", "storm one"), xPost("2", "storm two")])
      const rule_ids = [storm, flood, foreign, "rule_unknown", storm]
      const rules = [
        { rule_id: storm, name: "Test", matches: 2 },
        { rule_id: flood, name: "Test", matches: 0 }
      ]
      const not_found = [foreign, "rule_unknown"]
      const preview = await call(ann, "/api.DeleteRules", { rule_ids, preview: true })
      assert.deepStrictEqual<unknown>(preview.body, { deleted: false, rules, not_found })
      assert.lengthOf([...((await call(ann, "/api.ListRules")).body["rules"] ?? [])], 3)
      assertError(await call(reader, "/api.DeleteRules", { rule_ids }), 403, "permission_denied")
      const deleted = await call(ann, "/api.DeleteRules", { rule_ids })
      assert.deepStrictEqual<unknown>(deleted.body, { deleted: true, rules, not_found })
      assert.deepStrictEqual(idsOf([...((await call(ann, "/api.ListRules")).body["rules"] ?? [])]), [kept])
      assert.deepStrictEqual<unknown>((await call(ann, "/matches", {})).body["matches"], [])
      assert.lengthOf([...((await call(bob, "/api.ListRules")).body["rules"] ?? [])], 1)
      const again = await clientOf(ann).rules.deleteSeveral.mutate({ rule_ids: [storm] })
      assert.deepStrictEqual<unknown>(again, { deleted: true, rules: [], not_found: [storm] })
      for (const [request, message] of [
        [{ rule_ids: [] }, /"rule_ids": Expected 1 to 100 ids of rules, got 0/],
        [{ rule_ids: Array.from({ length: 101 }, () => kept) }, /"rule_ids": Expected 1 to 100 ids of rules, got 101/],
        [{ rule_ids: kept }, /"rule_ids": Expected an array, got a string/],
        [{}, /"rule_ids": Is missing/],
        [{ rule_ids: [kept], dry_run: true }, /"dry_run": Is not a known field/]
      ] as const) {
        assertError(await call(ann, "/api.DeleteRules", request), 400, "invalid_argument", message)
      }
    })

    test("and matches are read by infiniteQueryOptions of TanStack Query", async (ann) => {
      const rule_id = await newRule(ann, "storm")
      const posts = Array.from({ length: 5 }, (_, i) => xPost(`${i}`, "storm"))
      await call(ann, "/local/events", posts)
      const client = clientOf(ann)
      const queryClient = new QueryClient()
      const trpc = createTRPCOptionsProxy<AppRouter>({ client, queryClient })
      const observer = new InfiniteQueryObserver(
        queryClient,
        trpc.matches.list.infiniteQueryOptions(
          { rule_id, limit: 2 },
          { getNextPageParam: ({ next_cursor }) => next_cursor, retry: false }
        )
      )
      const stop = observer.subscribe(() => {})
      await observer.refetch()
      for (let page = observer.getCurrentResult(); page.hasNextPage; ) page = await observer.fetchNextPage()
      const { data, error } = observer.getCurrentResult()
      assert.isNull(error)
      const found = (data?.pages ?? []).map(({ matches }) => matches.map((match) => match.platform_post_id))
      assert.deepStrictEqual(found, [["4", "3"], ["2", "1"], ["0"]])
      stop()
      queryClient.clear()
      const rules = await queryClient.fetchInfiniteQuery(
        trpc.rules.list.infiniteQueryOptions({ limit: 1 }, { getNextPageParam: ({ next_cursor }) => next_cursor })
      )
      assert.lengthOf(rules.pages, 1)
      const backward: object = { limit: 2, direction: "backward" }
      const refused = await client.matches.list.query(backward).catch((cause: Error) => cause)
      assert.match(String(refused), /"direction": Is not a known field/)
      assertError(await call(ann, "/matches", { direction: "forward" }), 400, "invalid_argument", /"direction"/)
    })
  }
)

// ---- helpers ----

const newRule = async (target: Target, words: string) => {
  const { status, body } = await call(target, "/api.CreateRule", draft(words, ["x"]))
  assert.strictEqual(status, 200, JSON.stringify(body))
  return String(body["rule_id"])
}

const idsOf = (rules: ReadonlyArray<Json>): ReadonlyArray<string> => rules.map((rule) => String(rule["id"]))

const clientOf = (target: Target) =>
  createTRPCClient<AppRouter>({
    links: [httpLink({ url: `${target.url}/trpc`, headers: { authorization: `Bearer ${target.key}` } })]
  })
