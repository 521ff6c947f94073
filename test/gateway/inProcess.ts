/** The gateway in this process with memory stores and a real socket, for tests that replace services. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, Either, Layer, Option, Redacted } from "effect"
import * as NodeServer from "../../adapters/runtimes/node.ts"
import type { StoreCannotOpen } from "../../adapters/sql/StoreCannotOpen.ts"
import { Addresses } from "../../adapters/http/addresses.ts"
import * as HttpDocuments from "../../adapters/webhooks/HttpDocuments.ts"
import * as HttpSender from "../../adapters/webhooks/HttpSender.ts"
import { useCasesOn } from "../../app/composition.ts"
import type { Issuer } from "../../core/grants/Grants.ts"
import * as Ingest from "../../core/ingest/Ingest.ts"
import type { Scope } from "../../core/keys/Key.ts"
import { Keys } from "../../core/keys/Keys.ts"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { firstMatchIdAt } from "../../core/model/Ids.ts"
import * as WebhookDelivery from "../../core/webhooks/WebhookDelivery.ts"
import { unreadableRequest } from "../../gateway/errors.ts"
import { type GatewayOptions, gateway } from "../../gateway/gateway.ts"
import { localPlatforms } from "../platforms.ts"
import { memoryStores, type Stores } from "../stores/memoryStores.ts"
import type { Target } from "./client.ts"

const HOST = "127.0.0.1"

/** Rules per account on x. */
export const X_LIMIT = 2

/** The webhook receivers of these tests. */
const LOOPBACK = Either.getOrThrow(Addresses.parse("127.0.0.0/8"))

/** Everything that the gateway calls, composed as in the program. */
export const serviceOn = (
  platforms: ReturnType<typeof localPlatforms>,
  stores: Layer.Layer<Stores, StoreCannotOpen> = memoryStores,
  issuer: Option.Option<Issuer> = Option.none(),
  addresses = LOOPBACK
) =>
  Layer.merge(Ingest.layer, WebhookDelivery.layer).pipe(
    Layer.provideMerge(
      useCasesOn({
        platforms,
        stores,
        sender: Layer.merge(HttpSender.layerWith(addresses), HttpDocuments.layerWith(addresses)),
        recentEvents: 1_000,
        issuer
      })
    )
  )

export const service = serviceOn(localPlatforms({ x: X_LIMIT }, { webhooks: 20 }))

/** A port that is free now, for a server that must know its address before it listens. */
export const freePort = Effect.promise(
  () =>
    new Promise<number>((resolve) => {
      const server = createServer().listen(0, HOST, () => {
        const { port } = server.address() as AddressInfo
        server.close(() => resolve(port))
      })
    })
)

/** Serves until the scope closes. Returns a function that creates a key for an account. */
export const serve = Effect.suspend(() => serveWith({}))

export const serveWith = ({ port = 0, ...options }: { readonly port?: number } & Pick<GatewayOptions, "signIn">) =>
  Effect.gen(function* () {
    const handler = yield* gateway({
      ...options,
      host: Option.some(HOST),
      console: Option.none(),
      observeProcess: Effect.void,
      version: "0.0.0"
    })
    const bound = yield* NodeServer.serve({ host: HOST, port, handler, unreadable: unreadableRequest })
    return (account: string, scope: Scope = "admin") =>
      Effect.map(newKey(account, scope), ({ secret }) => targetOf(bound, Redacted.value(secret)))
  })

/** Returns a function that deletes all matches, as retention does. */
export const trimmer = Effect.map(
  MatchStore,
  ({ trim }) =>
    () =>
      Effect.runPromise(trim({ before: firstMatchIdAt(Date.now() + 1_000), keep: Option.none(), atMost: 1_000 }))
)

// ---- helpers ----

const newKey = (account: string, scope: Scope) =>
  Effect.gen(function* () {
    const keys = yield* Keys
    return yield* keys.create(yield* keys.account(account), { name: "test", scope })
  })

const targetOf = (port: number, key: string): Target => ({ url: `http://${HOST}:${port}`, host: HOST, port, key })
