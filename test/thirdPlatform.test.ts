/** A platform that the program does not know, added by one layer: every use case and every interface has it. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import { assert, describe, it } from "@effect/vitest"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { createTRPCClient, httpLink } from "@trpc/client"
import { Console, Effect, Layer, Option, Redacted } from "effect"
import { Fetch } from "../adapters/http/Fetch.ts"
import * as Local from "../adapters/local/Local.ts"
import * as Remote from "../adapters/remote/Remote.ts"
import * as CliTerminal from "../adapters/runtimes/terminal.ts"
import { type Actions, earshot } from "../cli/earshot.ts"
import { LANGUAGES } from "../fixtures/languages.ts"
import type { AppRouter } from "../gateway/trpc/router.ts"
import { call, type Target } from "./gateway/client.ts"
import { serve, serviceOn } from "./gateway/inProcess.ts"
import { connect } from "./gateway/mcp/session.ts"
import { nextMatch, openStream } from "./gateway/sse.ts"
import { localPlatforms } from "./platforms.ts"
import { quake, quakes } from "./quakes.ts"

/** The one layer. */
const withQuakes = Layer.provideMerge(Local.platform(quakes, Option.none()), localPlatforms())

const FILTER = "coast region:Chile magnitude>5"
const strong = (id: string) => quake(id, "Off the coast", "Chile", 6.1)
const weak = quake("weak", "Off the coast", "Chile", 4)

describe("a third platform", () => {
  it.scopedLive("is checked, explained and backtested", () =>
    Effect.gen(function* () {
      const target = yield* Effect.flatMap(serve, (targetFor) => targetFor("ann"))
      yield* post(target, "/local/events", [strong("1"), weak])
      const { body } = yield* post(target, "/rules/check", {
        overrides: { quakes: FILTER, x: "storm" },
        events: { quakes: weak },
        backtest: {}
      })
      const checked = body["platforms"]?.["quakes"]
      assert.deepInclude(plain(checked), { valid: true, canonical: "coast region:chile magnitude>5" })
      // X and Firehose have no such fields, and nothing is translated into Quakes.
      assert.strictEqual(String(checked?.["translations"]?.["x"]?.["fidelity"]), "impossible")
      assert.deepStrictEqual(Object.keys(body["platforms"]?.["x"]?.["translations"] ?? {}), ["firehose"])
      assert.deepStrictEqual(
        [...(checked?.["explanation"]?.["clauses"] ?? [])].map(({ held, description }) => `${held} ${description}`),
        ['true The word "coast" in the report', 'true The region is "chile"', "false The magnitude is over 5"]
      )
      assert.deepInclude(plain(checked?.["backtest"]), { tested: 2, matched: 1 })

      const wrong = yield* post(target, "/rules/check", { overrides: { quakes: "depth:7" } })
      assert.include(JSON.stringify(wrong.body), '\\"depth\\" is not a field of an earthquake')
    }).pipe(Effect.provide(serviceOn(withQuakes)))
  )

  it.scopedLive("is matched, listed and watched by REST, SSE, tRPC and MCP", () =>
    Effect.gen(function* () {
      const target = yield* Effect.flatMap(serve, (targetFor) => targetFor("ann"))
      const stream = yield* Effect.acquireRelease(
        Effect.promise(() => openStream(`${target.url}/matches/stream?platform=quakes`, { key: target.key })),
        ({ leave }) => Effect.sync(leave)
      )
      const created = yield* post(target, "/api.CreateRule", {
        name: "Quakes",
        intent: "Strong ones",
        platforms: ["quakes", "x"],
        overrides: { quakes: FILTER, x: "earthquake" }
      })
      assert.strictEqual(created.status, 200, JSON.stringify(created.body))
      const sent = yield* post(target, "/local/events", [strong("2"), weak])
      assert.deepStrictEqual(sent.body as unknown, { accepted: { quakes: 2 }, matches: 1 })

      const listed = yield* post(target, "/matches", { platform: "quakes" })
      const [match] = [...(listed.body["matches"] ?? [])]
      assert.deepInclude(plain(match), { platform: "quakes", platform_post_id: "2", payload: strong("2") })
      assert.strictEqual((yield* Effect.promise(() => nextMatch(stream)))?.platform_post_id, "2")

      const trpc = createTRPCClient<AppRouter>({
        links: [httpLink({ url: `${target.url}/trpc`, headers: { authorization: `Bearer ${target.key}` } })]
      })
      const page = yield* Effect.promise(() => trpc.matches.list.query({ platform: "quakes" }))
      assert.deepStrictEqual(
        page.matches.map(({ platform_post_id }) => platform_post_id),
        ["2"]
      )

      const agent = yield* Effect.promise(() =>
        connect(
          new StreamableHTTPClientTransport(new URL(`${target.url}/mcp`), {
            requestInit: { headers: { authorization: `Bearer ${target.key}` } }
          })
        )
      )
      assert.include(agent.client.getInstructions() ?? "", "earthquakes (platform quakes)")
      const answer = yield* Effect.promise(() => agent.call("list_matches", { platform: "quakes" }))
      assert.include(answer.text, "Off the coast")
    }).pipe(Effect.provide(serviceOn(withQuakes)))
  )

  it.scopedLive("is in the status, the help, the document and the errors", () =>
    Effect.gen(function* () {
      const target = yield* Effect.flatMap(serve, (targetFor) => targetFor("ann"))
      const get = (path: string) => Effect.promise(() => call(target, path))
      const status = yield* get("/platforms/status")
      assert.deepStrictEqual(
        [...(status.body["platforms"] ?? [])].map(({ platform }) => String(platform)),
        ["x", "firehose", "quakes"]
      )
      const help = yield* post(target, "/platforms/syntax", { platforms: ["quakes"] })
      assert.deepInclude(plain(help.body["platforms"]?.["quakes"]), {
        rule_type: "regular",
        syntax: "# Filters on Quakes"
      })
      const document = JSON.stringify((yield* get("/openapi.json")).body)
      assert.include(document, '"enum":["x","firehose","quakes"]')
      assert.include(document, '"quakes":{"$ref":"#/components/schemas/Registration"}')
      const unknown = yield* post(target, "/matches", { platform: "tremors" })
      assert.include(JSON.stringify(unknown.body), 'Expected one of \\"x\\", \\"firehose\\", \\"quakes\\"')
    }).pipe(Effect.provide(serviceOn(withQuakes)))
  )

  it.scopedLive("is on the command line", () =>
    Effect.gen(function* () {
      const target = yield* Effect.flatMap(serve, (targetFor) => targetFor("ann"))
      assert.include(yield* run(target, ["check", "--platform", "quakes", FILTER]), "region:chile magnitude>5")
      assert.include(yield* run(target, ["syntax", "quakes"]), "# Filters on Quakes")
      const created = yield* run(target, ["rules", "create", "--name", "a", "--intent", "b", "--quakes", FILTER])
      assert.match(created, /^rule_\w+\n {2}quakes {4}coast region:chile magnitude>5\n$/)
      yield* post(target, "/local/events", [strong("3")])
      assert.match(yield* run(target, ["matches"]), / {2}quakes {4}a {2}Off the coast\n$/)
    }).pipe(Effect.provide(serviceOn(withQuakes)))
  )
})

// ---- helpers ----

/** For assertions: the type of parsed JSON allows only looking into it. */
const plain = (json: unknown): object => json as object

const post = (target: Target, path: string, body: unknown) => Effect.promise(() => call(target, path, body))

/** What the command prints, with the platforms of this test. */
const run = (target: Target, args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    let printed = ""
    const remote = Remote.clientFor({ url: target.url, key: Option.some(Redacted.make(target.key)) }).pipe(
      Effect.provideService(Fetch, { send: fetch }),
      Effect.map((server) => ({ ...server, isLive: true }))
    )
    const parts = {
      connectTo: () => remote,
      open: () => Effect.dieMessage("No input in this test"),
      columns: Option.none(),
      settings: []
    }
    const commands =
      "serve keys rules matches webhooks check mcp platforms replay simulate deadLetters servers accounts"
    const actions = {
      ...Object.fromEntries(commands.split(" ").map((name) => [name, parts])),
      languages: [...LANGUAGES, quakes]
    }
    const console = { ...(yield* Console.consoleWith(Effect.succeed)) }
    console.log = (...texts: ReadonlyArray<unknown>) =>
      Effect.sync(() => {
        printed += `${texts.join(" ")}\n`
      })
    // Only these commands are run here.
    yield* earshot(actions as unknown as Actions<unknown>, {
      args,
      version: "0.0.0",
      width: 100,
      settings: [],
      platformsOff: {}
    }).pipe(
      Effect.provide(Layer.mergeAll(FileSystem.layerNoop({}), Path.layer, CliTerminal.layer)),
      Effect.withConsole(console)
    )
    return printed
  })
