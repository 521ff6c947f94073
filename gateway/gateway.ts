/** All doors behind one handler. */
import { Effect } from "effect"
import type { Entropy } from "../core/Entropy.ts"
import type { KeyStore } from "../core/KeyStore.ts"
import type { Keys } from "../core/Keys.ts"
import type { LocalFeed } from "../core/LocalFeed.ts"
import { docsRoutes } from "./docs.ts"
import { type Handler, makeHandler } from "./handler.ts"
import { healthRoutes } from "./health.ts"
import { localRoutes } from "./local.ts"
import { openApiRoute } from "./openapi.ts"
import type { Services } from "./operations.ts"
import { restRoutes } from "./rest.ts"
import type { Route } from "./route.ts"
import { trpcMount } from "./trpc.ts"

type DoorServices = Services | Keys | KeyStore | LocalFeed

/** `docsScript` gives the code that shows the OpenAPI document in a browser. */
export const gateway = (
  docsScript: Effect.Effect<Uint8Array<ArrayBuffer>>
): Effect.Effect<Handler, never, DoorServices | Entropy> =>
  Effect.gen(function* () {
    const routes: ReadonlyArray<Route<DoorServices>> = [
      ...restRoutes,
      ...localRoutes,
      ...healthRoutes,
      yield* openApiRoute,
      ...docsRoutes(yield* Effect.cached(docsScript))
    ]
    return yield* makeHandler<DoorServices>(routes, [trpcMount])
  })
