/** One server, in its own process. Prints its port, then the answer to each command. */
import process from "node:process"
import { Effect, Scope } from "effect"
import * as DenoServer from "../../adapters/runtimes/deno.ts"
import * as NodeServer from "../../adapters/runtimes/node.ts"
import { answerCommands, printJson } from "../childProcess.ts"

type Handler = (request: Request) => Promise<Response>

/** Dynamic imports: a server loads only its own code. */
const variants: Readonly<Record<string, () => Promise<number>>> = {
  fastify: async () => (await import("./fastify.ts")).onFastify(),
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
printJson(await start())
await answerCommands({})

// ---- helpers ----

/** Both gateways use the same adapter, so that only they differ. */
function listen(handler: Handler) {
  const { serve } = "Deno" in globalThis ? DenoServer : NodeServer
  return Effect.flatMap(Scope.make(), (scope) =>
    Scope.extend(serve({ host: "127.0.0.1", port: 0, handler, unreadable: "" }), scope)
  )
}
