/** `GET /`: the name and version of the server, with links. No key is needed. */
import { Effect } from "effect"
import { json, type OpenRoute } from "./route.ts"

export const serverInfoRoute = (version: string): OpenRoute<never> => ({
  method: "GET",
  path: "/",
  reply: Effect.succeed(
    json(200, {
      name: "Earshot",
      version,
      docs: "/docs",
      openapi: "/openapi.json",
      health: "/health/ready",
      metrics: "/metrics"
    })
  )
})
