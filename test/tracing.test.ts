/** Traces of the real program on each runtime. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { attributesOf, collector } from "./collector.ts"
import { call, draft } from "./gateway/client.ts"
import { KEY, RUNTIMES, startService } from "./program.ts"

const CALLER = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" }

for (const runtime of RUNTIMES) {
  describe(`traces on ${runtime}`, () => {
    it.live("join the caller's trace, with use cases below their requests and without secrets", () =>
      Effect.gen(function* () {
        const server = yield* collector
        const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: server.url, OTEL_SERVICE_NAME: "listener" }
        yield* Effect.promise(async () => {
          const running = await startService(runtime, settings)
          const target = { ...running, key: KEY }
          const headers = { traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01`, "x-request-id": "my-request" }
          assert.strictEqual((await call(target, "/api.CreateRule", draft(), { headers })).status, 200)
          assert.strictEqual((await call(target, "/api.DeleteRule", { rule_id: "none" })).status, 404)
          assert.strictEqual(
            (await call(target, "/s3cret?s3cret", undefined, { headers: { traceparent: "nonsense" } })).status,
            404
          )
          await running.stop()
        })

        const find = (name: string) => server.spans.filter((span) => span.name === name)
        const [create] = find("POST /api.CreateRule")
        assert.isDefined(create)
        assert.deepStrictEqual([create.traceId, create.parentSpanId, create.kind], [CALLER.traceId, CALLER.spanId, 2])
        assert.deepStrictEqual(attributesOf(create), {
          "http.request.method": "POST",
          "http.route": "/api.CreateRule",
          "earshot.request_id": "my-request",
          "http.response.status_code": "200"
        })
        const [useCase] = find("Rules.create")
        assert.deepStrictEqual([useCase?.traceId, useCase?.parentSpanId], [CALLER.traceId, create.spanId])

        const [remove] = find("POST /api.DeleteRule")
        const [failed] = find("Rules.delete")
        assert.deepStrictEqual(
          [remove?.status, attributesOf(remove ?? create)["http.response.status_code"]],
          [{ code: 0 }, "404"]
        )
        assert.deepStrictEqual([failed?.parentSpanId, failed?.status.code], [remove?.spanId, 2])
        assert.isUndefined(remove?.parentSpanId)

        const [unknown] = find("GET")
        assert.notProperty(attributesOf(unknown ?? create), "http.route")
        assert.isUndefined(unknown?.parentSpanId)
        const all = server.bodies.join()
        for (const secret of [KEY, "s3cret"]) assert.isFalse(all.includes(secret))
        assert.include(JSON.stringify(server.resources[0]), '"listener"')
      }).pipe(Effect.scoped)
    )
  })
}
