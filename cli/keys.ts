/** `earshot keys`: creates, lists and revokes API keys, directly in the store. */
import { Args, Command, Options } from "@effect/cli"
import { Console, Effect, Redacted, Schema } from "effect"
import type { Key } from "../core/keys/Key.ts"
import { DEFAULT_ACCOUNT, Keys } from "../core/keys/Keys.ts"
import { jsonOption, printJson } from "./remote.ts"
import { visible } from "./terminal.ts"

export interface KeysActions<E> {
  /** Provides the keys of the configured store. A missing store is created only if `createsStore`. */
  readonly withKeys: <A, E2>(
    effect: Effect.Effect<A, E2, Keys>,
    options?: { readonly createsStore: boolean }
  ) => Effect.Effect<A, E | E2>
}

export const keysCommand = <E>(actions: KeysActions<E>) =>
  Command.make("keys").pipe(
    Command.withDescription(
      "Create, list and revoke API keys in the embedded store (EARSHOT_DATA_DIR), which no server may be using, or in DATABASE_URL"
    ),
    Command.withSubcommands([createKey(actions), listKeys(actions), revokeKey(actions)])
  )

// ---- helpers ----

const Name = Schema.Trim.pipe(
  Schema.filter((text) => (text.length > 0 && text.length <= 200) || "Expected 1 to 200 characters")
)

const createKey = <E>({ withKeys }: KeysActions<E>) =>
  Command.make(
    "create",
    {
      account: Options.text("account").pipe(
        Options.withSchema(Name),
        Options.withPseudoName("name"),
        Options.withDescription(`Account of the key; created if it does not exist (default: ${DEFAULT_ACCOUNT})`),
        Options.withDefault(DEFAULT_ACCOUNT)
      ),
      name: Options.text("name").pipe(
        Options.withSchema(Name),
        Options.withPseudoName("text"),
        Options.withDescription("Name of the key, shown by keys list (default: key)"),
        Options.withDefault("key")
      ),
      json: jsonOption("Print the key and its metadata as JSON")
    },
    ({ json, ...options }) =>
      withKeys(
        Effect.gen(function* () {
          const keys = yield* Keys
          const { key, secret } = yield* keys.create(options)
          if (json) return yield* printJson({ ...key, key: Redacted.value(secret) })
          yield* Console.error(`Key ${key.id} of account "${visible(key.account)}", shown only once:`)
          yield* Console.log(Redacted.value(secret))
        }),
        { createsStore: true }
      )
  ).pipe(Command.withDescription("Create a key and print it"))

const listKeys = <E>({ withKeys }: KeysActions<E>) =>
  Command.make("list", { json: jsonOption("Print the metadata of each key as JSON") }, ({ json }) =>
    withKeys(
      Effect.gen(function* () {
        const keys = yield* Keys
        const all = yield* keys.list
        if (json) return yield* printJson({ keys: all })
        yield* Console.log(all.length === 0 ? "No keys yet: create one with: earshot keys create" : table(all))
      })
    )
  ).pipe(Command.withDescription("List all keys"))

const revokeKey = <E>({ withKeys }: KeysActions<E>) =>
  Command.make(
    "revoke",
    {
      id: Args.text({ name: "key-id" }).pipe(Args.withDescription("Id of the key, as shown by keys list")),
      json: jsonOption("Print the metadata of the key as JSON")
    },
    ({ id, json }) =>
      withKeys(
        Effect.gen(function* () {
          const keys = yield* Keys
          const key = yield* keys.revoke(id)
          if (json) return yield* printJson(key)
          yield* Console.log(`Revoked ${key.id} ("${visible(key.name)}" of account "${visible(key.account)}")`)
        })
      )
  ).pipe(Command.withDescription("Revoke a key. Running servers reject it within seconds"))

const table = (keys: ReadonlyArray<Key>): string => {
  const rows = [
    ["ID", "ACCOUNT", "NAME", "KEY", "CREATED", "LAST USED", "STATE"],
    ...keys.map((key) => [
      key.id,
      visible(key.account),
      visible(key.name),
      key.hint,
      key.created_at,
      key.last_used_at ?? "never",
      key.revoked_at === null ? "active" : `revoked ${key.revoked_at}`
    ])
  ]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}
