/** Baseline: Fastify over the same data. */
import type { AddressInfo } from "node:net"
import { fastify } from "fastify"
import { coverage, KEY, type Query, rules, select } from "./data.ts"

/** Checks the key and validates the input. */
export const onFastify = async (): Promise<number> => {
  const app = fastify()
  app.addHook("onRequest", async (request, reply) => {
    if (request.headers.authorization !== `Bearer ${KEY}`) return reply.code(401).send({})
  })
  app.post<{ Body: Query }>("/matches", { schema: { body: QUERY } }, async ({ body }) => list(body))
  app.get("/api.ListRules", async () => ({ rules }))
  await app.listen({ port: 0, host: "127.0.0.1" })
  return (app.server.address() as AddressInfo).port
}

// ---- helpers ----

const list = (query: Query) => ({ matches: select(query), coverage: coverage() })

const QUERY = {
  type: "object",
  additionalProperties: false,
  properties: {
    rule_id: { type: "string" },
    platform: { enum: ["x", "firehose"] },
    limit: { type: "integer", minimum: 1, maximum: 500, default: 50 },
    cursor: { type: "string" }
  }
}
