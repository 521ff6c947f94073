/** Callbacks of subscriptions, and documents of OAuth clients, that lead into the server's own network. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { Addresses } from "../../adapters/http/addresses.ts"
import { Resolver } from "../../adapters/http/Resolver.ts"
import { issuerAt } from "../../core/grants/Grants.ts"
import { OWN_HOSTS, OWN_NAMES } from "../adapters/webhooks/ownNetwork.ts"
import { startReceiver } from "../adapters/webhooks/receiver.ts"
import { call, type Target } from "../gateway/client.ts"
import { serveWith, serviceOn } from "../gateway/inProcess.ts"
import { rpc } from "../gateway/mcp/rpc.ts"
import { authorize, grantsOf, newProof } from "../gateway/oauth/flow.ts"
import { localPlatforms } from "../platforms.ts"
import { memoryStores } from "../stores/memoryStores.ts"

describe("an address in the server's own network", () => {
  attacked("is no callback of a subscription, however it is spelled", async (ann, port) => {
    const delivery = { mode: "webhook", secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}` }
    for (const host of [...OWN_HOSTS, ...Object.keys(OWN_NAMES)]) {
      for (const scheme of ["https", "http"]) {
        const url = `${scheme}://${host}:${port}/events`
        const params = { name: "match.created", delivery: { ...delivery, url } }
        const { error } = await rpc(ann, "events/subscribe", params)
        assert.deepInclude(error, { code: -32_015, data: { reason: "not_allowed" } }, url)
        assert.notMatch(error?.message ?? "", /\d|loopback|private|metadata/, "nothing of the address behind a name")
      }
    }
    // Of a public address, only http is refused.
    const open = { name: "match.created", delivery: { ...delivery, url: "http://public.example/" } }
    assert.deepInclude((await rpc(ann, "events/subscribe", open)).error?.data, { reason: "not_allowed" })
    assert.deepStrictEqual([...((await call(ann, "/webhooks")).body["webhooks"] ?? [])], [])
  })

  attacked("has no document of an OAuth client, however it is spelled", async (ann, port) => {
    for (const host of [...OWN_HOSTS, ...Object.keys(OWN_NAMES)]) {
      const spelled = `https://${host}:${port}/client.json`
      for (const client_id of new Set([spelled, new URL(spelled).href])) {
        const response = await authorize(ann, { client_id, code_challenge: newProof().challenge })
        assert.deepStrictEqual([response.status, response.headers.get("location")], [400, null], client_id)
        const expected =
          client_id !== new URL(spelled).href
            ? /it is not the address of a document/
            : host in OWN_NAMES
              ? /its document cannot be read: it cannot be reached/
              : /its document cannot be read: its address is not public/
        assert.match(await response.text(), expected, client_id)
      }
    }
    assert.deepStrictEqual(await grantsOf(ann), [])
  })
})

// ---- helpers ----

const PUBLIC: Readonly<Record<string, string>> = { "public.example": "93.184.216.34" }

/** `port` is that of a server on all addresses of this machine, which nobody may reach. */
function attacked(title: string, test: (ann: Target, port: number) => Promise<void>): void {
  const issuer = issuerAt("https://earshot.example")
  const addressesOf = async (name: string) => [OWN_NAMES[name] ?? PUBLIC[name] ?? "127.0.0.1"]
  it.scopedLive(
    title,
    () =>
      Effect.gen(function* () {
        const { port, server } = yield* startReceiver(undefined, "0.0.0.0")
        let connections = 0
        server.on("connection", () => connections++)
        const ann = yield* (yield* serveWith({ signIn: Either.right(issuer) }))("ann")
        yield* Effect.promise(() => test(ann, port))
        assert.strictEqual(connections, 0)
      }).pipe(
        Effect.provide(serviceOn(localPlatforms(), memoryStores, Option.some(issuer), new Addresses())),
        Effect.provideService(Resolver, { addressesOf })
      ),
    240_000
  )
}
