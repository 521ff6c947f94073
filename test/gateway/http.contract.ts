/** The HTTP contract, called once per runtime. The short form only has one journey on Deno. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { KEY, RUNTIMES, type Running, type RuntimeName, START_MILLIS } from "../program.ts"
import { bodyContract } from "./body.contract.ts"
import { call, type Target } from "./client.ts"
import { endpointsContract } from "./endpoints.contract.ts"
import { eventsContract } from "./events.contract.ts"
import { fieldsContract } from "./fields.contract.ts"
import { journeyContract } from "./journey.contract.ts"
import { keyContract } from "./key.contract.ts"
import { metricsContract } from "./metrics.contract.ts"
import { pathsContract } from "./paths.contract.ts"
import { wireContract } from "./wire.contract.ts"

export const httpContract = (runtime: RuntimeName, start: () => Promise<Running>): void => {
  describe(`HTTP on ${runtime}`, () => {
    let running: Running | undefined
    const target = (): Target => {
      if (running === undefined) throw new Error("The service is not running")
      return { url: running.url, host: running.host, port: running.port, key: KEY }
    }

    beforeAll(async () => {
      running = await start()
    }, START_MILLIS)

    afterAll(async () => {
      const ended = await running?.stop()
      assert.strictEqual(ended?.code, 0, ended?.stderr)
      // Only defects are logged as errors, and no request here may cause one.
      assert.notMatch(ended?.stderr ?? "", /"level":"(error|fatal)"/)
    }, START_MILLIS)

    journeyContract(target)
    if (RUNTIMES.includes(runtime)) {
      endpointsContract(target)
      eventsContract(target)
      keyContract(target)
      fieldsContract(target)
      bodyContract(target)
      pathsContract(target, runtime)
      wireContract(target, runtime)
      metricsContract(target, runtime)
    }

    it("is still ready at the end", async () => {
      assert.strictEqual(String((await call(target(), "/health/ready")).body["status"]), "ok")
    })
  })
}
