/** The table of settings: values, errors, and the generated files. */
import { readFileSync } from "node:fs"
import { relative } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, LogLevel, Option } from "effect"
import {
  describeConfigError,
  outputSettings,
  remoteSettings,
  serviceSettings,
  settings,
  storeSettings
} from "../app/settings.ts"
import { settingsFiles } from "../scripts/writeSettings.ts"
import { ROOT } from "./program.ts"

describe("settings", () => {
  it.effect("have their defaults when they are not set or empty", () =>
    Effect.gen(function* () {
      const defaults = yield* read({})
      assert.deepInclude(defaults.service, { port: 8787, host: "127.0.0.1", demoFeed: "on", recentEvents: 10_000 })
      assert.deepStrictEqual(defaults.store, {
        databaseUrl: Option.none(),
        dataDir: "./data",
        diskFloor: Option.none(),
        storeWait: 60
      })
      assert.deepInclude(defaults.output, { logLevel: LogLevel.Info, hasColours: true })
      assert.deepStrictEqual(defaults.client, { url: Option.none(), key: Option.none() })
      assert.deepEqual(yield* read(Object.fromEntries(settings.map(({ name }) => [name, ""]))), defaults)
    })
  )

  it.effect("are parsed, and secrets are redacted", () =>
    Effect.gen(function* () {
      const secrets = {
        DATABASE_URL: "postgres://user:hush-hush-hush-hush@host/database",
        EARSHOT_API_KEY: "hush-hush-hush-hush",
        EARSHOT_BOOTSTRAP_KEY: "hush-hush-hush-hush",
        FIREHOSE_TAP_TOKEN: "hush-hush-hush-hush",
        X_BEARER_TOKEN: "hush-hush-hush-hush"
      }
      const values = yield* read({ ...secrets, EARSHOT_CRASH_AT: "ingest.stored:3", LOG_LEVEL: "debug", NO_COLOR: "1" })
      assert.deepStrictEqual(values.service.crashAt, Option.some({ failpoint: "ingest.stored", passes: 3 }))
      assert.deepInclude(values.output, { logLevel: LogLevel.Debug, hasColours: false })
      const shown = JSON.stringify(values)
      assert.lengthOf(shown.match(/<redacted>/g) ?? [], Object.keys(secrets).length)
      assert.notInclude(shown, "hush")
    })
  )

  it.effect("are reported together when they are not valid, without secrets", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        read({
          PORT: "65536",
          LOG_FORMAT: "xml",
          DATABASE_URL: "mysql://hush",
          X_BEARER_TOKEN: "hush",
          FIREHOSE_TAP_TOKEN: `fhm_${"hush".repeat(10)}`,
          EARSHOT_WEBHOOK_ALLOW: "10.0.0.1"
        })
      )
      assert.sameMembers(
        [...describeConfigError(error)],
        [
          'Setting PORT is not valid: Expected a whole number from 0 to 65535, got "65536"',
          'Setting LOG_FORMAT is not valid: Expected one of json, pretty, got "xml"',
          "Setting DATABASE_URL is not valid: Expected a URL like postgres://user:password@host:port/database, special characters as %xx",
          "Setting X_BEARER_TOKEN is not valid: Expected 16 to 512 printable ASCII characters without spaces",
          "Setting FIREHOSE_TAP_TOKEN is not valid: Expected the token of a tap (fh_…), not a management key (fhm_…), which cannot access rules or the stream",
          'Setting EARSHOT_WEBHOOK_ALLOW is not valid: "10.0.0.1" is not a range of addresses: write it like 10.0.0.0/8 or fd00::/8, with commas between several'
        ]
      )
    })
  )

  for (const { path, text } of settingsFiles()) {
    const name = relative(ROOT, path)
    it(`match ${name}`, () => {
      assert.strictEqual(readFileSync(path, "utf8"), text, `${name} is out of date: run "npm run settings"`)
    })
  }
})

// ---- helpers ----

const read = (environment: Readonly<Record<string, string>>) =>
  Effect.withConfigProvider(
    Config.all({ service: serviceSettings, store: storeSettings, output: outputSettings, client: remoteSettings }),
    ConfigProvider.fromMap(new Map(Object.entries(environment)))
  )
