/** One server, in its own process. Prints its port, then its CPU time for each line of input. */
import process from "node:process"
import { Effect, Scope } from "effect"
import * as DenoServer from "../../adapters/runtimes/deno.ts"
import * as NodeServer from "../../adapters/runtimes/node.ts"

type Handler = (request: Request) => Promise<Response>

/** Dynamic imports: a server loads only its own code. */
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
if (start === undefined) throw new Error(`Unknown server: expected ${Object.keys(variants).join(", ")}`)
print(await start())
process.stdin.on("data", () => {
  const { user, system } = process.cpuUsage()
  print(user + system)
})
// Ends with the benchmark, which holds the other end of the pipe.
process.stdin.on("end", () => process.exit(0))

// ---- helpers ----

/** Both gateways use the same adapter, so that only they differ. */
function listen(handler: Handler) {
  const { serve } = "Deno" in globalThis ? DenoServer : NodeServer
  return Effect.flatMap(Scope.make(), (scope) =>
    Scope.extend(serve({ host: "127.0.0.1", port: 0, handler, unreadable: "" }), scope)
  )
}

function print(fact: number) {
  process.stdout.write(`${fact}\n`)
}
