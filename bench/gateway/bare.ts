/** Baselines: bare `node:http`, and Fastify, over the same data. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fastify } from "fastify"
import { coverage, KEY, type Query, rules, select } from "./data.ts"

/** Checks the key and parses JSON, without validation. */
export const raw = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer((request, response) => {
      const answer = (status: number, body: unknown) => {
        const json = JSON.stringify(body)
        response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(json) })
        response.end(json)
      }
      if (request.headers.authorization !== `Bearer ${KEY}`) return answer(401, {})
      if (request.method === "GET" && request.url === "/api.ListRules") return answer(200, { rules })
      if (request.method !== "POST" || request.url !== "/matches") return answer(404, {})
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => answer(200, list(JSON.parse(Buffer.concat(chunks).toString()) as Query)))
    })
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port))
  })

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
