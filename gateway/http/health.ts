/** Health checks for operators and orchestrators. No key is needed. */
import { Effect } from "effect"
import { describeProblem } from "../../core/model/Errors.ts"
import { Status } from "../../core/status/Status.ts"
import { json, type OpenRoute } from "./route.ts"

export const healthRoutes: ReadonlyArray<OpenRoute<Status>> = [
  { method: "GET", path: "/health/live", reply: () => Effect.succeed(json(200, { status: "ok" })) },
  {
    method: "GET",
    path: "/health/ready",
    reply: () =>
      Effect.gen(function* () {
        const status = yield* Status
        const { ready, store, reason, platforms } = yield* status.readiness
        return json(ready ? 200 : 503, {
          status: ready ? "ok" : "unavailable",
          store,
          ...(reason !== undefined && { reason, message: describeProblem(reason) }),
          platforms
        })
      })
  }
]
