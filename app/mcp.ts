/** `earshot mcp`: MCP tools on standard input and output, for a remote server or a service in this process. */
import { Effect, Option } from "effect"
import * as Assets from "../adapters/runtimes/assets.ts"
import * as RuntimeEntropy from "../adapters/runtimes/entropy.ts"
import { DEFAULT_ACCOUNT, Keys } from "../core/keys/Keys.ts"
import { Entropy } from "../core/model/Entropy.ts"
import { type Call, callAs, callRemote } from "../gateway/mcp/calls.ts"
import { serveOnStdio } from "../gateway/mcp/stdio.ts"
import { toolbox } from "../gateway/mcp/tools.ts"
import { newSecret } from "../gateway/mcp/untrusted.ts"
import { languages } from "./platforms.ts"
import { isRemote, remote } from "./remote.ts"
import { VERSION } from "./version.ts"

export const mcp = (url: Option.Option<string>) =>
  Effect.gen(function* () {
    if (yield* isRemote(url)) {
      const { request } = yield* remote(url)
      return yield* Effect.provide(toolsOnStdio(callRemote(request)), RuntimeEntropy.layer)
    }
    // Imported here: a remote server makes them unnecessary.
    const { asStoreInUse, connectToServer } = yield* Effect.promise(() => import("./ownStore.ts"))
    const server = yield* connectToServer(DEFAULT_ACCOUNT)
    if (Option.isSome(server)) {
      return yield* Effect.provide(toolsOnStdio(callRemote(server.value.request)), RuntimeEntropy.layer)
    }
    const { running, startDemoFeed } = yield* Effect.promise(() => import("./service.ts"))
    const { serveOperator } = yield* Effect.promise(() => import("./operator.ts"))
    yield* running((options) =>
      Effect.gen(function* () {
        yield* serveOperator({
          host: Option.none(),
          docsScript: Assets.docsScript,
          observeProcess: Effect.void,
          version: VERSION
        })
        yield* startDemoFeed(options)
        const keys = yield* Keys
        yield* toolsOnStdio(callAs({ account: yield* keys.account(DEFAULT_ACCOUNT), scope: "admin" }))
      })
    ).pipe(Effect.mapError(asStoreInUse))
  })

// ---- helpers ----

const toolsOnStdio = <R>(call: Call<R>) =>
  Effect.flatMap(Entropy, (entropy) =>
    serveOnStdio({ version: VERSION, toolbox: toolbox(languages), call, newSecret: newSecret(entropy) })
  )
