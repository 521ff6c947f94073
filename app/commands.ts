/** The command line, with what its commands do. What a command needs beyond the command line is loaded when it runs. */
import process from "node:process"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import { Effect, Layer, Option } from "effect"
import * as FileInput from "../adapters/runtimes/input.ts"
import * as CliTerminal from "../adapters/runtimes/terminal.ts"
import { settingLines } from "../adapters/simulator/settings.ts"
import { earshot } from "../cli/earshot.ts"
import { WrongUsage } from "../cli/failures.ts"
import type { Place } from "../cli/remote.ts"
import { DEFAULT_ACCOUNT } from "../core/keys/Keys.ts"
import { output } from "./output.ts"
import { languages } from "./platforms.ts"
import { isRemote, remote } from "./remote.ts"
import { outputSettings, settings } from "./settings.ts"
import { VERSION } from "./version.ts"

/** The program that the arguments name. */
export const commands = (args: ReadonlyArray<string>): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    const printing = yield* outputSettings
    const width = Math.min((process.stdout.columns ?? 101) - 1, 100)
    yield* earshot(actions, { args, version: VERSION, width, settings }).pipe(
      Effect.provide(Layer.mergeAll(FileSystem.layerNoop({}), Path.layer, CliTerminal.layer)),
      Effect.provide(output(printing))
    )
  })

/** Whether the command goes on until it is interrupted. */
export const runsUntilStopped = (args: ReadonlyArray<string>): boolean =>
  ["serve", "simulate", "mcp"].includes(args[0] ?? "") || args.some((arg) => /^(--follow|-f)$/.test(arg))

// ---- helpers ----

const ownStore = Effect.promise(() => import("./ownStore.ts"))

/** Where a command goes that can go to a server or to the store of this machine. */
const at = ({ url, account }: Place) =>
  Effect.gen(function* () {
    if (!(yield* isRemote(url))) {
      const { connect } = yield* ownStore
      return yield* connect(Option.getOrElse(account, () => DEFAULT_ACCOUNT))
    }
    if (Option.isSome(account)) {
      return yield* new WrongUsage({
        message: "--account is for the store of this machine: a server knows the account by the key"
      })
    }
    return yield* remote(url)
  })

/** Whatever a command fails with is reported alike. */
const actions: Parameters<typeof earshot<unknown>>[0] = {
  languages,
  serve: Effect.flatMap(
    Effect.promise(() => import("./serve.ts")),
    ({ serve }) => serve
  ),
  keys: { withKeys: (effect) => Effect.flatMap(ownStore, ({ withKeys }) => withKeys(effect)) },
  rules: { at, open: FileInput.open },
  matches: { at, columns: CliTerminal.columns },
  webhooks: { at },
  check: { open: FileInput.open },
  mcp: {
    run: (url) =>
      Effect.flatMap(
        Effect.promise(() => import("./mcp.ts")),
        ({ mcp }) => mcp(url)
      )
  },
  platforms: { remote },
  replay: { remote, open: FileInput.open, screen: CliTerminal.screen },
  setAside: { withStreams: (effect) => Effect.flatMap(ownStore, ({ withStreams }) => withStreams(effect)) },
  simulate: {
    run: (options) =>
      Effect.flatMap(
        Effect.promise(() => import("./simulate.ts")),
        ({ simulate }) => simulate(options)
      ),
    settings: settingLines()
  }
}
