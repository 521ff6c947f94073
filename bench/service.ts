/** The service, composed as in `main.ts`, without platforms that connect. */
import { Effect, Layer, Option } from "effect"
import { Addresses } from "../adapters/http/addresses.ts"
import * as Local from "../adapters/local/Local.ts"
import * as Log from "../adapters/runtimes/log.ts"
import * as NodeServer from "../adapters/runtimes/node.ts"
import type * as SqlStores from "../adapters/sql/stores.ts"
import * as HttpDocuments from "../adapters/webhooks/HttpDocuments.ts"
import * as HttpSender from "../adapters/webhooks/HttpSender.ts"
import { useCasesOn } from "../app/composition.ts"
import { firehose } from "../core/languages/firehose.ts"
import { x } from "../core/languages/x.ts"
import { Platforms } from "../core/platforms/Platform.ts"
import { Quotas } from "../core/quotas/Quotas.ts"
import { gateway } from "../gateway/gateway.ts"

export const log = Log.layerWith("json")

/** A limit that is never reached: requests are counted, and answers have the headers. */
const limits = {
  requests: 1_000_000_000,
  checks: 0,
  matching: 0,
  events: 0,
  streams: 0,
  webhooks: 0,
  subscriptions: 0,
  challenges: 0,
  feeds: 0,
  matches: 0,
  bytes: 0
}

const platforms = Local.feed.pipe(
  Layer.provideMerge(Quotas.layerWith({ defaults: limits })),
  Layer.provideMerge(Layer.provideMerge(Local.platform(firehose, Option.none()), Local.platform(x, Option.none()))),
  Layer.provideMerge(Layer.merge(Platforms.layer, Local.Sinks.layer))
)

export const layerWith = <E>(stores: Layer.Layer<Layer.Layer.Success<typeof SqlStores.layer>, E>) =>
  useCasesOn({
    platforms,
    stores,
    sender: Layer.merge(HttpSender.layerWith(new Addresses()), HttpDocuments.layerWith(new Addresses())),
    recentEvents: 10_000,
    issuer: Option.none()
  }).pipe(
    Layer.provideMerge(log),
    // As if no trace collector were set.
    Layer.provideMerge(Layer.setTracerEnabled(false))
  )

/** Returns the port. */
export const listen = Effect.flatMap(
  gateway({
    host: Option.none(),
    console: Option.none(),
    observeProcess: Effect.void,
    version: "0.0.0"
  }),
  (handler) => NodeServer.serve({ host: "127.0.0.1", port: 0, handler, unreadable: "" })
)
