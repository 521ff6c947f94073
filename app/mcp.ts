/** `earshot mcp`: MCP tools on standard input and output, for a remote server or a service in this process. */
import { Deferred, Effect, Option } from "effect"
import * as RuntimeEntropy from "../adapters/runtimes/entropy.ts"
import { DEFAULT_ACCOUNT, Keys } from "../core/keys/Keys.ts"
import { Entropy } from "../core/model/Entropy.ts"
import { type Call, callAs, callRemote } from "../gateway/mcp/calls.ts"
import { serveOnStdio } from "../gateway/mcp/stdio.ts"
import { toolbox } from "../gateway/mcp/tools.ts"
import { newSecret } from "../gateway/mcp/untrusted.ts"
import type { Services } from "../gateway/operations/Handlers.ts"
import { languagesOn } from "./platforms.ts"
import { isRemote, remote } from "./remote.ts"
import { VERSION } from "./version.ts"

export const mcp = (url: Option.Option<string>) =>
  Effect.gen(function* () {
    if (yield* isRemote(url)) {
      const { request } = yield* remote(url)
      return yield* toolsOnStdio(callRemote(request))
    }
    // The client gets the list of tools before the store is open. Calls wait for it.
    const ready = yield* Deferred.make<Call<never>>()
    const call: Call<never> = (callee, args) => Effect.flatMap(ready, (call) => call(callee, args))
    yield* Effect.raceFirst(
      toolsOnStdio(call),
      onOwnStore((call) => Deferred.succeed(ready, call))
    )
  })

// ---- helpers ----

/** Runs until it is interrupted: the store belongs to this process, or to a server that uses it. */
const onOwnStore = (isReady: (call: Call<never>) => Effect.Effect<unknown>) =>
  Effect.gen(function* () {
    // Imported here: a remote server makes them unnecessary, and the first message is answered before.
    yield* Effect.sleep(0)
    const { asStoreInUse, connectToServer, retryWhileBusy } = yield* Effect.promise(() => import("./ownStore.ts"))
    return yield* Effect.gen(function* () {
      const server = yield* connectToServer(DEFAULT_ACCOUNT)
      if (Option.isNone(server)) return yield* Effect.mapError(serviceHere(isReady), asStoreInUse)
      yield* isReady(callRemote(server.value.request))
      return yield* Effect.never
    }).pipe(retryWhileBusy)
  })

const serviceHere = (isReady: (call: Call<never>) => Effect.Effect<unknown>) =>
  Effect.gen(function* () {
    const { running, startDemoFeed } = yield* Effect.promise(() => import("./service.ts"))
    const { serveOperator } = yield* Effect.promise(() => import("./operator.ts"))
    return yield* running((options) =>
      Effect.gen(function* () {
        yield* serveOperator({
          host: Option.none(),
          console: Option.none(),
          observeProcess: Effect.void,
          version: VERSION
        })
        yield* startDemoFeed(options)
        const keys = yield* Keys
        const here = callAs({ account: yield* keys.account(DEFAULT_ACCOUNT), scope: "admin" })
        const services = yield* Effect.context<Services>()
        yield* isReady((callee, args) => Effect.provide(here(callee, args), services))
        return yield* Effect.never
      })
    )
  })

const toolsOnStdio = (call: Call<never>) =>
  Effect.gen(function* () {
    const known = yield* languagesOn
    return yield* serveOnStdio({
      version: VERSION,
      toolbox: toolbox(known),
      call,
      newSecret: newSecret(yield* Entropy),
      // The client is on this machine, and has no address.
      events: { languages: known, subscriber: Option.none(), check: Effect.void, hold: Effect.void }
    })
  }).pipe(Effect.provide(RuntimeEntropy.layer))
