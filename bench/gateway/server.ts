/** One server of the benchmark, in a process of its own. Says its port, then its CPU time for each line it is sent. */
import process from "node:process"
import { Effect, Scope } from "effect"
import * as DenoServer from "../../adapters/runtimes/deno.ts"
import * as NodeServer from "../../adapters/runtimes/node.ts"

type Handler = (request: Request) => Promise<Response>

/** Imported when chosen: a server carries nothing of the others. */
const variants: Readonly<Record<string, () => Promise<number>>> = {
  raw: async () => (await import("./bare.ts")).raw(),
  fastify: async () => (await import("./bare.ts")).onFastify(),
  "trpc-to-openapi": async () => {
    const { handler } = await import("./trpcToOpenApi.ts")
    return Effect.runPromise(listen(handler))
  },
  earshot: async () => {
    const { handler, layer } = await import("./earshot.ts")
    return Effect.runPromise(Effect.provide(Effect.flatMap(handler, listen), layer))
  }
}

const start = variants[process.argv[2] ?? ""]
if (start === undefined) throw new Error(`Name one of ${Object.keys(variants).join(", ")}`)
say(await start())
process.stdin.on("data", () => {
  const { user, system } = process.cpuUsage()
  say(user + system)
})
// The benchmark holds the other end: however it ends, its servers end with it.
process.stdin.on("end", () => process.exit(0))

// ---- helpers ----

/** Both gateways are served by the same adapter, so that they alone differ. */
function listen(handler: Handler) {
  const { serve } = "Deno" in globalThis ? DenoServer : NodeServer
  return Effect.flatMap(Scope.make(), (scope) =>
    Scope.extend(serve({ host: "127.0.0.1", port: 0, handler, unreadable: "" }), scope)
  )
}

function say(fact: number) {
  process.stdout.write(`${fact}\n`)
}
