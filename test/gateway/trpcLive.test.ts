/** The subscription `matches.watch` with tRPC's client: types, keys, failures and the end. */
import { afterAll, assert, beforeAll, describe, expectTypeOf, it } from "@effect/vitest"
import { createTRPCClient, httpLink, httpSubscriptionLink, splitLink, type TRPCClientError } from "@trpc/client"
import type { inferRouterInputs } from "@trpc/server"
import { EventSource } from "eventsource"
import type { AppRouter } from "../../gateway/trpc/router.ts"
import { KEY, RUNTIMES, type Served, START_MILLIS, serveOn } from "../program.ts"
import { call, draft, type Target, xPost } from "./client.ts"
import { exchange, requestText } from "./raw.ts"
import { openStream } from "./sse.ts"

for (const runtime of RUNTIMES) {
  describe(`matches.watch on ${runtime}`, () => {
    let running: Served | undefined
    const target = (): Target => {
      if (running === undefined) throw new Error("The service is not running")
      return { url: running.url, host: running.host, port: running.port, key: KEY }
    }
    beforeAll(async () => {
      running = await serveOn(runtime)
    }, START_MILLIS)
    afterAll(async () => {
      await running?.stop()
    }, START_MILLIS)

    /** `EventSource` in browsers cannot send headers. */
    const inBrowser = (authorization = `Bearer ${KEY}`) =>
      clientOf(httpSubscriptionLink({ url: `${target().url}/trpc`, EventSource, connectionParams: { authorization } }))

    const inNode = (authorization = `Bearer ${KEY}`) =>
      clientOf(
        httpSubscriptionLink({
          url: `${target().url}/trpc`,
          EventSource,
          eventSourceOptions: {
            fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, authorization } })
          }
        })
      )

    const clientOf = (link: ReturnType<typeof httpSubscriptionLink<AppRouter, typeof EventSource>>) =>
      createTRPCClient<AppRouter>({
        links: [
          splitLink({
            condition: ({ type }) => type === "subscription",
            true: link,
            false: httpLink({ url: `${target().url}/trpc`, headers: { authorization: `Bearer ${KEY}` } })
          })
        ]
      })

    const newRule = async (words: string) =>
      String((await call(target(), "/api.CreateRule", draft(words, ["x"]))).body["rule_id"])
    const publish = async (posts: ReadonlyArray<string>, words: string) => {
      const { status } = await call(
        target(),
        "/local/events",
        posts.map((post) => xPost(post, words))
      )
      assert.strictEqual(status, 200)
    }

    for (const [place, client] of [
      ["a browser", inBrowser],
      ["Node", inNode]
    ] as const) {
      it(`sends the matches after lastEventId, then new ones as they are stored, in ${place}`, async () => {
        const words = `watched ${place.replace(" ", "")}`
        const rule_id = await newRule(words)
        await publish(
          ["1", "2"].map((post) => `${place} ${post}`),
          words
        )
        const { matches } = await client().matches.list.query({ rule_id })
        const watched = watch(client(), { rule_id, lastEventId: matches[1]?.id ?? "" })
        await watched.until(1)
        await publish([`${place} 3`], words)
        await watched.until(2)
        watched.leave()
        assert.deepStrictEqual(
          watched.items.map(({ data }) => data.platform_post_id),
          ["2", "3"].map((post) => `${place} ${post}`)
        )
        for (const { id, data } of watched.items) assert.strictEqual(id, data.id)
        assert.deepStrictEqual<unknown>(watched.items[0]?.data, matches[0])
        await call(target(), "/api.DeleteRule", { rule_id })
      })
    }

    it("fails without a retry, with the error of REST, for invalid input and keys", async () => {
      for (const [input, status, code] of [
        [{ rule_id: "none" }, 404, "not_found"],
        [{ cursor: "17" }, 400, "invalid_argument"],
        [{ lastEventId: "17" }, 400, "invalid_argument"],
        [{ platfrom: "x" }, 400, "invalid_argument"]
      ] as const) {
        const { data } = await watch(inBrowser(), input).failed
        assert.deepStrictEqual([data?.httpStatus, data?.code], [status, code])
      }
      for (const client of [inBrowser("Bearer wrong"), inNode("Bearer wrong")]) {
        const { data } = await watch(client, {}).failed
        assert.deepStrictEqual([data?.httpStatus, data?.code], [401, "unauthenticated"])
      }
    })

    it("accepts a key in the URL only for the subscription", async () => {
      const params = encodeURIComponent(JSON.stringify({ authorization: `Bearer ${KEY}` }))
      for (const path of [
        `/trpc/matches.list?connectionParams=${params}`,
        `/trpc/rules.list?connectionParams=${params}&a=/trpc/matches.watch?connectionParams=${params}`,
        `/trpc/rules.list,matches.list?batch=1&connectionParams=${params}`,
        `/matches/stream?connectionParams=${params}`,
        `/api.ListRules?connectionParams=${params}`
      ]) {
        const answer = await exchange(target(), requestText("GET", path))
        assert.strictEqual(answer?.status, 401, path)
      }
      for (const wrong of ["", "{", "[]", "null", '{"authorization":1}', '{"key":"a"}']) {
        const path = `/trpc/matches.watch?connectionParams=${encodeURIComponent(wrong)}`
        const answer = await exchange(target(), requestText("GET", path))
        assert.include(answer?.body, '"code":"', path)
        assert.notInclude(answer?.body, "event: connected\ndata: {}", path)
      }
    })

    it("ends streams of both transports cleanly when the service stops, so that clients reconnect", async () => {
      const words = "stopping"
      const rule_id = await newRule(words)
      const watched = watch(inBrowser(), { rule_id })
      const stream = await openStream(`${target().url}/matches/stream?rule_id=${rule_id}`, { key: KEY })
      await stream.next()
      await watched.isOpen
      await publish(["last"], words)
      await watched.until(1)
      assert.strictEqual((await stream.next())?.event, "match")
      const ended = await running?.stop()
      assert.strictEqual(ended?.code, 0)
      assert.isUndefined(await stream.next(), "ends without an error")
      assert.isFalse(watched.isComplete(), "a completed client would not reconnect")
      watched.leave()
    })
  })
}

describe("AppRouter", () => {
  it("has the exact types of the subscription", () => {
    type Input = inferRouterInputs<AppRouter>["matches"]["watch"]
    expectTypeOf<Input>().toEqualTypeOf<void | {
      readonly rule_id?: string
      readonly platform?: string
      readonly cursor?: string
      readonly lastEventId?: string
    }>()
    type Client = ReturnType<typeof createTRPCClient<AppRouter>>
    type Item = Parameters<NonNullable<Parameters<Client["matches"]["watch"]["subscribe"]>[1]["onData"]>>[0]
    expectTypeOf<Item["id"]>().toEqualTypeOf<string>()
    expectTypeOf<Omit<Item["data"], "payload">>().toEqualTypeOf<{
      readonly id: string
      readonly rule_id: string
      readonly rule_version: number
      readonly created_at: string
      readonly platform: string
      readonly platform_post_id: string
      readonly reapplied?: true
      readonly redacted?: { readonly at: string; readonly reason: "deleted" | "withheld" | "edited" | "operator" }
    }>()
    expectTypeOf<Item["data"]["payload"][string]>().toEqualTypeOf<unknown>()
  })
})

// ---- helpers ----

type Client = ReturnType<typeof createTRPCClient<AppRouter>>

/** Collects the items of a subscription. */
const watch = (client: Client, input: object) => {
  type Item = Parameters<NonNullable<Parameters<Client["matches"]["watch"]["subscribe"]>[1]["onData"]>>[0]
  const items: Array<Item> = []
  let isComplete = false
  let wake = () => {}
  let fail: (error: TRPCClientError<AppRouter>) => void = () => {}
  let open = () => {}
  const failed = new Promise<TRPCClientError<AppRouter>>((resolve) => {
    fail = resolve
  })
  const isOpen = new Promise<void>((resolve) => {
    open = resolve
  })
  const { unsubscribe } = client.matches.watch.subscribe(input, {
    onStarted: () => open(),
    onData: (item) => {
      items.push(item)
      wake()
    },
    onComplete: () => {
      isComplete = true
    },
    onError: (error) => fail(error as TRPCClientError<AppRouter>)
  })
  const until = async (count: number) => {
    while (items.length < count) {
      await Promise.race([
        new Promise<void>((resolve) => {
          wake = resolve
        }),
        failed.then((error) => Promise.reject(error))
      ])
    }
  }
  return { items, until, failed, isOpen, isComplete: () => isComplete, leave: unsubscribe }
}
