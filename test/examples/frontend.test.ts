/** The example of a frontend: its client against a real server, and its page as a bundler takes it. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { EventSource } from "eventsource"
import { build } from "vite"
import { connect } from "../../examples/frontend/client.ts"
import { draft, xPost } from "../gateway/client.ts"
import { KEY, ROOT, serveInProcess } from "../program.ts"
import { temporaryFolder } from "../stores.ts"

describe("examples/frontend", () => {
  it.scopedLive("its client creates a rule and hears of what it matches", () =>
    Effect.gen(function* () {
      const { url } = yield* Effect.acquireRelease(
        Effect.promise(() => serveInProcess()),
        (running) => Effect.promise(() => running.stop())
      )
      // As every browser has it.
      Object.assign(globalThis, { EventSource })
      const client = connect(`${url}/trpc`, KEY)
      yield* Effect.promise(() => client.rules.create.mutate(draft("comet", ["x"])))
      const heard = yield* Effect.promise(
        () =>
          new Promise<string>((resolve, reject) => {
            const watching = client.matches.watch.subscribe(undefined, {
              onStarted: () =>
                void fetch(`${url}/local/events`, {
                  method: "POST",
                  headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
                  body: JSON.stringify(xPost("1", "a comet"))
                }),
              onData: ({ data }) => {
                watching.unsubscribe()
                resolve(data.platform_post_id)
              },
              onError: reject
            })
          })
      )
      assert.strictEqual(heard, "1")
    })
  )

  it.scopedLive("its page is bundled with nothing of the server in it", () =>
    Effect.gen(function* () {
      const outDir = yield* temporaryFolder
      const root = join(ROOT, "examples/frontend")
      const output = yield* Effect.promise(() =>
        build({ root, logLevel: "silent", build: { outDir, emptyOutDir: true } })
      )
      assert(!Array.isArray(output) && "output" in output)
      const modules = output.output.flatMap((part) => (part.type === "chunk" ? Object.keys(part.modules) : []))
      assert.isTrue(modules.some((path) => path.endsWith("examples/frontend/main.ts")))
      assert.isFalse(modules.some((path) => path.includes("/gateway/") || path.includes("@trpc/server/dist/adapters")))
    })
  )
})
