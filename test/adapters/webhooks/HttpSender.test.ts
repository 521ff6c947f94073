import { createServer } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Either, Option, Redacted } from "effect"
import { Webhook } from "standardwebhooks"
import { Addresses } from "../../../adapters/http/addresses.ts"
import * as HttpSender from "../../../adapters/webhooks/HttpSender.ts"
import { Resolver } from "../../../adapters/http/Resolver.ts"
import { type Message, WebhookSender } from "../../../core/webhooks/WebhookSender.ts"
import { CERTIFICATE, PRIVATE_KEY } from "./certificate.ts"
import { OWN_HOSTS, OWN_NAMES } from "./ownNetwork.ts"
import { startReceiver } from "./receiver.ts"

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
const OLD_SECRET = `whsec_${Buffer.alloc(24, 9).toString("base64")}`

const message = (url: string, overrides: Partial<Message> = {}): Message => ({
  url,
  id: "match_01kzyn5a2me0vb6h9d4s8y1k3p",
  at: Date.now(),
  body: JSON.stringify({ type: "match.created", data: { text: "Ünïcode 🐈 \ud800" } }),
  secrets: [Redacted.make(SECRET)],
  ...overrides
})

const loopback = Either.getOrThrow(Addresses.parse("127.0.0.0/8"))

const send = (url: string, { addresses = loopback, ...overrides }: Partial<Message> & { addresses?: Addresses } = {}) =>
  Effect.flatMap(WebhookSender, (sender) => sender.send(message(url, overrides))).pipe(
    Effect.provide(HttpSender.layerWith(addresses))
  )

/** A fake resolver. Each lookup of a name returns the next of its answers; the last one repeats. */
const names = (answers: Record<string, ReadonlyArray<ReadonlyArray<string>>>) => {
  const lookups: Array<string> = []
  const addressesOf = async (name: string) => {
    const rounds = answers[name]
    if (rounds === undefined) throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" })
    const round = lookups.filter((other) => other === name).length
    lookups.push(name)
    return rounds[Math.min(round, rounds.length - 1)] ?? []
  }
  return { lookups, resolving: Effect.provideService(Resolver, { addressesOf }) }
}

describe("HttpSender", () => {
  it.scopedLive("signs messages so that the reference library verifies them with each secret", () =>
    Effect.gen(function* () {
      const { received, url } = yield* startReceiver()
      const secrets = [SECRET, OLD_SECRET].map((secret) => Redacted.make(secret))
      const answer = yield* send(`${url}/hook?a=1&b=%20`, { secrets })
      assert.deepStrictEqual(answer, { _tag: "Answered", status: 204, body: "", retryAfter: Option.none() })
      const [one] = received
      assert.isDefined(one)
      assert.strictEqual(one?.path, "/hook?a=1&b=%20")
      assert.deepInclude(one?.headers, {
        host: new URL(url).host,
        "content-type": "application/json",
        "webhook-id": "match_01kzyn5a2me0vb6h9d4s8y1k3p",
        "content-length": String(Buffer.byteLength(one?.body ?? ""))
      })
      assert.match(one?.headers["webhook-signature"] ?? "", /^v1,\S{44} v1,\S{44}$/)
      const { body = "", headers = {} } = one ?? {}
      for (const secret of [SECRET, OLD_SECRET]) {
        const verifier = new Webhook(secret)
        assert.deepStrictEqual(verifier.verify(body, headers), JSON.parse(body))
        const tampered: ReadonlyArray<readonly [string, Record<string, string>]> = [
          [body.replace("match", "patch"), headers],
          [body, { ...headers, "webhook-id": "match_01kzyn5a2me0vb6h9d4s8y1k3q" }],
          [body, { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) + 1) }]
        ]
        for (const [text, changed] of tampered) assert.throws(() => verifier.verify(text, changed), /signature/)
      }
      const foreign = new Webhook(`whsec_${Buffer.alloc(32, 8).toString("base64")}`)
      assert.throws(() => foreign.verify(body, headers), /signature/)
    })
  )

  it.scopedLive("send does not follow redirects", () =>
    Effect.gen(function* () {
      const inner = yield* startReceiver()
      for (const status of [301, 302, 303, 307, 308]) {
        const outer = yield* startReceiver(
          (_, response) => void response.writeHead(status, { location: inner.url }).end()
        )
        assert.deepInclude(yield* send(outer.url), { _tag: "Answered", status })
      }
      assert.lengthOf(inner.received, 0)
    })
  )

  it.scopedLive("send returns the Retry-After of the receiver in milliseconds", () =>
    Effect.gen(function* () {
      const headers = ["120", new Date(Date.now() + 60_000).toUTCString(), "soon", "-5"]
      const { url } = yield* startReceiver((_, response) => {
        response.writeHead(503, { "retry-after": headers.shift() ?? "" }).end("busy")
      })
      const waits: Array<number> = []
      for (let i = 0; i < 4; i++) {
        const answer = yield* send(url)
        if (answer._tag === "Answered") waits.push(Option.getOrElse(answer.retryAfter, () => 0))
      }
      assert.strictEqual(waits[0], 120_000)
      assert.closeTo(waits[1] ?? 0, 60_000, 5_000)
      assert.deepStrictEqual(waits.slice(2), [0, 0])
    })
  )

  it.scopedLive("send reads only the start of an endless response body", () =>
    Effect.gen(function* () {
      let written = 0
      const { url } = yield* startReceiver((_, response) => {
        response.writeHead(200)
        const writeMore = () => {
          while (!response.destroyed && response.write("ü".repeat(8_000))) written += 16_000
          if (!response.destroyed) response.once("drain", writeMore)
        }
        writeMore()
      })
      const answer = yield* send(url)
      assert.deepInclude(answer, { _tag: "Answered", status: 200, body: "ü".repeat(500) })
      assert.isBelow(written, 20_000_000)
    })
  )

  it.scopedLive("send returns the status of a response whose body trickles or is cut off", () =>
    Effect.gen(function* () {
      const cut = yield* startReceiver((_, response) => {
        response.writeHead(200, { "content-length": "100" }).write("abc")
        setTimeout(() => response.socket?.destroy(), 50)
      })
      assert.deepInclude(yield* send(cut.url), { status: 200, body: "abc" })
      const trickle = yield* startReceiver((_, response) => {
        response.writeHead(500).write("a")
        const timer = setInterval(() => response.write("b"), 100)
        response.on("close", () => clearInterval(timer))
      })
      const [took, answer] = yield* Effect.timed(send(trickle.url))
      assert.deepInclude(answer, { status: 500 })
      assert.isBelow(Duration.toMillis(took), 10_000)
    })
  )

  it.scopedLive("send returns Unanswered with the reason when the receiver does not answer in HTTP", () =>
    Effect.gen(function* () {
      const raw = (text: string | undefined) =>
        Effect.acquireRelease(
          Effect.promise(async () => {
            const server = createServer((socket) => {
              socket.on("error", () => {})
              socket.once("data", () => (text === undefined ? socket.destroy() : socket.write(text)))
            })
            await new Promise<void>((resume) => server.listen(0, "127.0.0.1", resume))
            const address = server.address()
            return { server, url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}` }
          }),
          ({ server }) => Effect.sync(() => server.close())
        )
      const closing = yield* raw(undefined)
      const nonsense = yield* raw("SSH-2.0-OpenSSH\r\n")
      const large = yield* raw(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}\r\n\r\n`)
      const cases: ReadonlyArray<readonly [string, RegExp]> = [
        [closing.url, /^No response: the connection was cut$/],
        [nonsense.url, /^No response: it does not speak HTTP$/],
        [large.url, /^No response: its headers are too large$/],
        ["http://127.0.0.1:1/", /^Cannot be reached: connection refused$/],
        [nonsense.url.replace("http:", "https:"), /^Cannot be reached: it does not speak TLS$/],
        ["http://no-such-name.invalid/", /^Cannot be reached: its host name is unknown$/]
      ]
      for (const [url, expected] of cases) {
        const answer = yield* send(url)
        assert.match(answer._tag === "Unanswered" ? answer.reason : `answered ${answer.status}`, expected)
      }
    })
  )

  it.scopedLive("send times out after 15 seconds in the lookup, before and within the response headers", () =>
    Effect.gen(function* () {
      const silent = yield* startReceiver(() => {})
      const dripping = yield* startReceiver((_, response) => {
        const { socket } = response
        socket?.write("HTTP/1.1 200 OK\r\n")
        const timer = setInterval(() => socket?.write("x-more: 1\r\n"), 500)
        socket?.on("close", () => clearInterval(timer))
      })
      const never = new Promise<never>(() => {})
      const unresolved = Effect.provideService(send("http://slow.example/"), Resolver, { addressesOf: () => never })
      const [took, answers] = yield* Effect.timed(
        Effect.all([send(silent.url), send(dripping.url), unresolved], { concurrency: "unbounded" })
      )
      for (const answer of answers) {
        assert.deepStrictEqual(answer, {
          _tag: "Unanswered",
          trouble: "timeout",
          reason: "Did not answer within 15 seconds"
        })
      }
      assert.isAtLeast(Duration.toMillis(took), 14_900)
      assert.isBelow(Duration.toMillis(took), 25_000)
    })
  )

  it.scopedLive("send uses SNI and checks the certificate over TLS", () =>
    Effect.gen(function* () {
      const serverNames: Array<string> = []
      const port = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const server = createTlsServer({
            key: PRIVATE_KEY,
            cert: CERTIFICATE,
            SNICallback: (name, done) => {
              serverNames.push(name)
              done(null)
            }
          })
          server.on("tlsClientError", () => {})
          await new Promise<void>((resume) => server.listen(0, "127.0.0.1", resume))
          return server
        }),
        (server) => Effect.sync(() => server.close())
      ).pipe(Effect.map((server) => server.address()))
      const { resolving } = names({ "hooks.example": [["127.0.0.1"]] })
      const url = `https://hooks.example.:${typeof port === "object" ? port?.port : ""}/`
      const answer = yield* resolving(send(url))
      assert.deepStrictEqual(answer, {
        _tag: "Unanswered",
        trouble: "tls_error",
        reason: "Cannot be reached: its certificate is not trusted, or not for this name"
      })
      assert.deepStrictEqual(serverNames, ["hooks.example"])
    })
  )

  it.scopedLive("send looks a name up once and connects to the checked address", () =>
    Effect.gen(function* () {
      const right = yield* startReceiver(undefined, "127.0.0.2")
      const { lookups, resolving } = names({ "rebinding.example": [["127.0.0.2"], ["127.0.0.1"]] })
      const addresses = Either.getOrThrow(Addresses.parse("127.0.0.2/32"))
      const url = `http://rebinding.example:${right.port}/`
      assert.deepInclude(yield* resolving(send(url, { addresses })), { status: 204 })
      assert.strictEqual(right.received[0]?.headers["host"], `rebinding.example:${right.port}`)
      assert.lengthOf(lookups, 1)
      const answer = yield* resolving(send(url, { addresses }))
      assert.match(
        answer._tag === "Unanswered" ? answer.reason : "",
        /^Not allowed: "rebinding\.example" has an address that is not public/
      )
      assert.lengthOf(lookups, 2)
      assert.lengthOf(right.received, 1)
    })
  )

  it.scopedLive("send tries the next address of a name, and none of them if one is refused", () =>
    Effect.gen(function* () {
      const { received, port } = yield* startReceiver()
      const { resolving } = names({
        "two.example": [["127.0.0.9", "127.0.0.1"]],
        "mixed.example": [["127.0.0.1", "10.0.0.1"]],
        "none.example": [[]],
        "words.example": [["localhost"]]
      })
      assert.deepInclude(yield* resolving(send(`http://two.example:${port}/`)), { status: 204 })
      for (const [name, expected] of [
        ["mixed", /^Not allowed: "mixed\.example" has an address that is not public/],
        ["none", /has no address$/],
        ["words", /^Not allowed: "words\.example" has an address/]
      ] as const) {
        const answer = yield* resolving(send(`http://${name}.example:${port}/`))
        assert.match(answer._tag === "Unanswered" ? answer.reason : "", expected)
      }
      assert.lengthOf(received, 1)
    })
  )

  it.scopedLive("send never reaches a loopback server, however its address is spelled", () =>
    Effect.gen(function* () {
      const { received, port } = yield* startReceiver(undefined, "0.0.0.0")
      const addresses = new Addresses()
      const sender = yield* Effect.provide(WebhookSender, HttpSender.layerWith(addresses))
      const { resolving } = names({ localhost: [["127.0.0.1", "::1"]], "a.localhost": [["127.0.0.1"]] })
      for (const host of OWN_HOSTS) {
        const url = `http://${host}:${port}/`
        assert.isTrue(Option.isSome(sender.refusal(new URL(url).href)), `refusal rejects ${host}`)
        const answer = yield* resolving(send(url, { addresses }))
        assert.match(answer._tag === "Unanswered" ? answer.reason : "answered", /^Not allowed: /, host)
      }
      const named = names(Object.fromEntries(Object.entries(OWN_NAMES).map(([name, address]) => [name, [[address]]])))
      for (const host of Object.keys(OWN_NAMES)) {
        const answer = yield* named.resolving(send(`http://${host}:${port}/`, { addresses }))
        const reason = answer._tag === "Unanswered" ? answer.reason : "answered"
        assert.match(reason, /^Not allowed: /, host)
        assert.notMatch(reason, /\d|fe80|loopback|private|metadata address/, "nothing of the address behind the name")
      }
      assert.lengthOf(received, 0)
    })
  )
})
