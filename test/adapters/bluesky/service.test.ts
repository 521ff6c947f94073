/** Bluesky over real sockets, as the clients of the service see it: matches, deletes, accounts and handles. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import * as Bluesky from "../../../adapters/bluesky/Bluesky.ts"
import * as WebSockets from "../../../adapters/runtimes/webSockets.ts"
import { Platforms } from "../../../core/platforms/Platform.ts"
import * as Simulator from "../../../simulator/Simulator.ts"
import { serve as serveSimulator } from "../../../simulator/server.ts"
import { untilTrue } from "../../eventually.ts"
import { call, type Target } from "../../gateway/client.ts"
import { serve, serviceOn } from "../../gateway/inProcess.ts"
import { localPlatforms } from "../../platforms.ts"
import { runInProcess } from "../../program.ts"
import { storesOfDoors } from "../../stores.ts"
import { startReceiver } from "../webhooks/receiver.ts"
import { doorsOf, showing } from "./doors.ts"

const ANN = "did:plc:ann"
const BEN = "did:plc:ben"

const startedOn = (stores?: (typeof storesOfDoors)[number][1]) =>
  Effect.gen(function* () {
    const simulator = yield* Simulator.make({ seed: 1 })
    const port = yield* serveSimulator(simulator, { host: "127.0.0.1", port: 0 })
    const platform = Bluesky.layerWith({ baseUrl: `http://127.0.0.1:${port}` })
    const platforms = Layer.provideMerge(Layer.provide(platform, WebSockets.layer), localPlatforms())
    const context = yield* Layer.build(serviceOn(platforms, stores))
    const target = yield* Effect.flatMap(serve, (targetFor) => targetFor("ann")).pipe(Effect.provide(context))
    const { jetstream } = simulator
    const { lookUp = assert.fail("Bluesky can look up posts") } = yield* Effect.flatMap(Platforms, ({ get }) =>
      get("bluesky")
    ).pipe(Effect.provide(context))
    const post = (did: string, rkey: string, text: string, record: object = {}) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        jetstream.publish({ did, commit: { rkey, record: { text, ...record } } }, now)
      )
    const matches = Effect.map(ask(target, "/matches", { platform: "bluesky" }), ({ body }) =>
      [...(body["matches"] ?? [])].map((match) => ({
        id: String(match["platform_post_id"]).split("/").at(-1),
        redacted: match["redacted"] === undefined ? undefined : String(match["redacted"]["reason"]),
        text: JSON.stringify(match["payload"])
      }))
    )
    const untilShown = (shown: string) =>
      untilTrue(
        shown,
        Effect.map(
          matches,
          (all) =>
            all
              .map(({ id, redacted }) => `${id} ${redacted ?? "shown"}`)
              .toSorted()
              .join(", ") === shown
        )
      )
    const create = (filter: string) =>
      ask(target, "/api.CreateRule", {
        name: "Storms",
        intent: "Learn of storms",
        platforms: ["bluesky"],
        overrides: { bluesky: filter }
      })
    const untilOpen = untilTrue(
      "the stream is open",
      Effect.sync(() => jetstream.connected > 0)
    )
    return { jetstream, lookUp, target, post, matches, untilShown, untilOpen, create }
  })

const started = startedOn()

describe("bluesky", () => {
  for (const [name, stores] of storesOfDoors.filter(([name]) => name !== "memory")) {
    it.scopedLive(
      `shows a match within seconds, and removes what is deleted or deactivated everywhere, on ${name}`,
      () =>
        Effect.gen(function* () {
          const { jetstream, target, post, matches, untilShown, untilOpen, create } = yield* startedOn(stores)
          const created = yield* create("storm -rain")
          assert.strictEqual(created.status, 200)
          const rule_id = String(created.body["rule_id"])
          // Without the setting of the platform.
          const server = { EARSHOT_URL: target.url, EARSHOT_API_KEY: target.key }
          const listed = yield* Effect.promise(() => runInProcess(["rules", "list"], server))
          assert.match(listed.stdout, /^ {2}bluesky {3}active {2}storm -rain$/m, listed.stderr)
          const before = yield* ask(target, "/matches/wait", { rule_id, timeout_seconds: 1 })
          yield* ask(target, "/api.ShadowRule", { rule_id, overrides: { bluesky: "storm -hail -rain" } })
          // The first delivery fails: all of them are still to be sent when the posts are withdrawn.
          const status = { now: 503 }
          const receiver = yield* startReceiver((_, response) => void response.writeHead(status.now).end())
          const { body } = yield* ask(target, "/webhooks/create", { url: receiver.url, rule_ids: [rule_id] })
          yield* untilOpen
          yield* post(ANN, "1", "A storm in Annville")
          yield* post(ANN, "2", "storm and rain")
          yield* post(BEN, "3", "Storm over Benville, with hail")
          yield* post(ANN, "4", "storm in Annville again, with hail")
          yield* untilShown("1 shown, 3 shown, 4 shown")
          const asked = { ruleId: rule_id, cursor: String(before.body["cursor"]), filter: "storm", count: 3 }
          const doors = doorsOf(target, asked)
          const shown = yield* doors
          assert.deepStrictEqual(showing(shown, "ville"), Object.keys(shown))

          jetstream.delete(BEN, "3", yield* Clock.currentTimeMillis)
          jetstream.delete(BEN, "never stored", yield* Clock.currentTimeMillis)
          const startedAt = yield* Clock.currentTimeMillis
          yield* untilShown("1 shown, 3 deleted, 4 shown")
          assert.isBelow((yield* Clock.currentTimeMillis) - startedAt, 5_000)
          const afterDelete = yield* doors
          assert.deepStrictEqual(showing(afterDelete, "Benville"), [])
          assert.deepStrictEqual(showing(afterDelete, "Annville"), Object.keys(shown))

          jetstream.account(ANN, { active: false, status: "deactivated" }, yield* Clock.currentTimeMillis)
          yield* untilShown("1 withheld, 3 deleted, 4 withheld")
          assert.deepStrictEqual(showing(yield* doors, "ville"), [])
          const recent = yield* ask(target, "/rules/check", { overrides: { bluesky: "storm" }, backtest: {} })
          assert.include(JSON.stringify(recent.body), '"tested":0,"matched":0')
          const counted = JSON.stringify((yield* ask(target, "/matches/histogram", { rule_id, unit: "minute" })).body)
          assert.notInclude(counted, "ville")

          const refused = receiver.received.length
          status.now = 204
          yield* ask(target, "/webhooks/enable", { webhook_id: body["webhook"]?.["id"] })
          const sent = Effect.sync(() => receiver.received.slice(refused).map((message) => message.body))
          yield* untilTrue(
            "the receiver has heard of all three",
            Effect.map(sent, (messages) =>
              ['/1"', '/3"', '/4"'].every((post) => messages.some((one) => one.includes(post)))
            )
          )
          assert.notInclude((yield* sent).join("\n"), "ville")

          jetstream.account(ANN, { active: true }, yield* Clock.currentTimeMillis)
          yield* post(ANN, "5", "back after the storm")
          yield* untilShown("1 withheld, 3 deleted, 4 withheld, 5 shown")
          assert.notInclude(JSON.stringify(yield* matches), "ville")
        })
    )
  }

  it.scopedLive("finds posts that were withdrawn while nobody read the stream", () =>
    Effect.gen(function* () {
      const { jetstream, lookUp, post } = yield* started
      for (const rkey of ["1", "2", "3"]) yield* post(ANN, rkey, "storm")
      yield* post(BEN, "4", "storm")
      jetstream.delete(ANN, "2", yield* Clock.currentTimeMillis)
      jetstream.account(BEN, { active: false, status: "deleted" }, yield* Clock.currentTimeMillis)
      const uris = [ANN, ANN, ANN, BEN].map((did, at) => `at://${did}/app.bsky.feed.post/${at + 1}`)
      const states = yield* lookUp.ask([...uris, "not a post"])
      assert.deepStrictEqual(Object.fromEntries(states), {
        [`at://${ANN}/app.bsky.feed.post/2`]: "withheld",
        [`at://${BEN}/app.bsky.feed.post/4`]: "withheld"
      })
    })
  )

  it.scopedLive("matches handles that rules name, and refuses one that nobody has", () =>
    Effect.gen(function* () {
      const { jetstream, post, matches, untilShown, untilOpen, create } = yield* started
      jetstream.handles.set(ANN, "ann.example.com")
      jetstream.handles.set(BEN, "ben.example.com")
      const refused = yield* create("from:nobody.example.com")
      assert.include(JSON.stringify(refused.body), 'no account on Bluesky has the handle \\"nobody.example.com\\"')
      assert.strictEqual((yield* create("from:ann.example.com OR @ann.example.com OR storm")).status, 200)
      yield* untilOpen
      yield* post(ANN, "1", "anything")
      yield* post(BEN, "2", "hello", { facets: [{ features: [{ did: ANN }] }] })
      yield* post(BEN, "3", "hello")
      yield* post(BEN, "4", "storm")
      yield* untilShown("1 shown, 2 shown, 4 shown")
      assert.include((yield* matches).find(({ id }) => id === "1")?.text, '"handles":{"did:plc:ann":"ann.example.com"}')
      // The handle of an author is looked up after the first match.
      yield* untilTrue(
        "the handle of the author is known",
        Effect.gen(function* () {
          yield* post(BEN, `later${yield* Clock.currentTimeMillis}`, "storm")
          yield* Effect.sleep("300 millis")
          return (yield* matches).some(({ text }) => text.includes("ben.example.com"))
        })
      )
    })
  )

  it.scopedLive("is in the status with its address, and says why the stream is not open", () =>
    Effect.gen(function* () {
      const { jetstream, target, untilOpen, create } = yield* started
      jetstream.inject({ refuse: { status: 503, times: 3 } }, 0)
      assert.strictEqual((yield* create("storm")).status, 200)
      const status = Effect.map(
        Effect.promise(() => call(target, "/platforms/status")),
        ({ body }) =>
          JSON.stringify([...(body["platforms"] ?? [])].find(({ platform }) => String(platform) === "bluesky"))
      )
      yield* untilTrue(
        "the refusal is told",
        Effect.map(status, (text) => text.includes("The platform refused the connection with status 503"))
      )
      yield* untilOpen
      assert.include(yield* status, '"source":"upstream"')
    })
  )
})

// ---- helpers ----

const ask = (target: Target, path: string, body: unknown) => Effect.promise(() => call(target, path, body))
