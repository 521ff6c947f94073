/** For operators and their orchestrators: is the process up, can it work. No key is needed. */
import { Effect } from "effect"
import type { KeyStore } from "../core/keys/KeyStore.ts"
import type { Platforms } from "../core/platforms/Platform.ts"
import { readiness } from "../core/status/Health.ts"
import { json, type OpenRoute } from "./route.ts"

export const healthRoutes: ReadonlyArray<OpenRoute<KeyStore | Platforms>> = [
  { method: "GET", path: "/health/live", reply: Effect.succeed(json(200, { status: "ok" })) },
  {
    method: "GET",
    path: "/health/ready",
    reply: Effect.map(readiness, ({ ready, store, platforms }) =>
      json(ready ? 200 : 503, { status: ready ? "ok" : "unavailable", store, platforms })
    )
  }
]
