/** Connects the command line to its implementation. Modules that only one command needs are loaded when it runs. */
import process from "node:process"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import { Effect, Layer, Option } from "effect"
import * as FileInput from "../adapters/runtimes/input.ts"
import * as CliTerminal from "../adapters/runtimes/terminal.ts"
import { earshot } from "../cli/earshot.ts"
import { UsageError } from "../cli/failures.ts"
import type { Target } from "../cli/remote.ts"
import { DEFAULT_ACCOUNT } from "../core/keys/Keys.ts"
import { settingLines } from "../simulator/settings.ts"
import { output } from "./output.ts"
import { languagesOn, platformsOff } from "./platforms.ts"
import { isRemote, operatorRemote, remote, remoteOrOperator } from "./remote.ts"
import { outputSettings, settings } from "./settings.ts"
import { VERSION } from "./version.ts"

export const commands = (args: ReadonlyArray<string>): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    const printing = yield* outputSettings
    const width = Math.min((process.stdout.columns ?? 101) - 1, 100)
    const options = { args, version: VERSION, width, settings, platformsOff: yield* platformsOff }
    yield* earshot({ ...actions, languages: yield* languagesOn }, options).pipe(
      Effect.provide(Layer.mergeAll(FileSystem.layerNoop({}), Path.layer, CliTerminal.layer)),
      Effect.provide(output(printing))
    )
  })

/** Whether the command runs until it is interrupted. */
export const runsUntilStopped = (args: ReadonlyArray<string>): boolean =>
  ["serve", "simulate", "mcp"].includes(args[0] ?? "") || args.some((arg) => /^(--follow|-f)$/.test(arg))

// ---- helpers ----

const ownStore = Effect.promise(() => import("./ownStore.ts"))

/** The server, if one is configured. */
const server = ({ url, account }: Target) =>
  Effect.gen(function* () {
    if (!(yield* isRemote(url))) return Option.none()
    if (Option.isSome(account)) {
      return yield* new UsageError({
        message: "--account is for the local store only: on a server, the key determines the account"
      })
    }
    return Option.some(yield* remote(url))
  })

/** The server, if one is configured, otherwise the local store. */
const connectTo = (target: Target) =>
  Effect.gen(function* () {
    const configured = yield* server(target)
    if (Option.isSome(configured)) return configured.value
    const { connect } = yield* ownStore
    return yield* connect(Option.getOrElse(target.account, () => DEFAULT_ACCOUNT))
  })

/** Errors are `unknown`: all are reported the same way (run.ts). */
const actions: Omit<Parameters<typeof earshot<unknown>>[0], "languages"> = {
  serve: Effect.promise(() => import("./serve.ts")).pipe(Effect.flatMap(({ serve }) => serve)),
  keys: {
    server,
    withKeys: (effect, options) => Effect.flatMap(ownStore, ({ withKeys }) => withKeys(effect, options))
  },
  accounts: { withAccounts: (effect) => Effect.flatMap(ownStore, ({ withAccounts }) => withAccounts(effect)) },
  rules: { connectTo, open: FileInput.open },
  matches: { connectTo, columns: CliTerminal.columns, operatorRemote },
  webhooks: { connectTo },
  check: { connectTo, open: FileInput.open },
  mcp: { run: (url) => Effect.promise(() => import("./mcp.ts")).pipe(Effect.flatMap(({ mcp }) => mcp(url))) },
  platforms: { remote: remoteOrOperator },
  replay: { remote, operatorRemote, open: FileInput.open, screen: CliTerminal.screen },
  servers: {
    withServers: (effect) => Effect.flatMap(ownStore, ({ withServers }) => withServers(effect))
  },
  store: {
    copy: (options) => Effect.promise(() => import("./storeCopy.ts")).pipe(Effect.flatMap(({ copy }) => copy(options))),
    screen: CliTerminal.screen
  },
  deadLetters: {
    withDeadLetters: (effect) => Effect.flatMap(ownStore, ({ withDeadLetters }) => withDeadLetters(effect))
  },
  simulate: {
    run: (options) =>
      Effect.promise(() => import("./simulate.ts")).pipe(Effect.flatMap(({ simulate }) => simulate(options))),
    settings: settingLines()
  }
}
