/** For operators and their orchestrators: is the process up, can it work. No key is needed. */
import { Effect } from "effect"
import { readiness } from "../core/Health.ts"
import type { KeyStore } from "../core/KeyStore.ts"
import type { Platforms } from "../core/Platform.ts"
import { json, type Route } from "./route.ts"

export const healthRoutes: ReadonlyArray<Route<KeyStore | Platforms>> = [
  { method: "GET", path: "/health/live", handle: () => Effect.succeed(json(200, { status: "ok" })) },
  {
    method: "GET",
    path: "/health/ready",
    handle: () =>
      Effect.map(readiness, ({ ready, store, platforms }) =>
        json(ready ? 200 : 503, { status: ready ? "ok" : "unavailable", store, platforms })
      )
  }
]
