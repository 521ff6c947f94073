/** `earshot keys`: manages API keys: of one's own account on a server, or of any account in the local store. */
import { Args, Command, Options } from "@effect/cli"
import { Console, Effect, Option, Redacted, Schema } from "effect"
import { callOf, type RemoteFailure } from "../api/calls.ts"
import { contracts } from "../api/contracts.ts"
import { type Key, Scope } from "../core/keys/Key.ts"
import { DEFAULT_ACCOUNT, EVERY_ACCOUNT, type IssuedKey, Keys, OVERLAP_SECONDS } from "../core/keys/Keys.ts"
import * as Timestamp from "../core/model/Timestamp.ts"
import { UsageError } from "./failures.ts"
import { wholeNumberOption } from "./numberOption.ts"
import { jsonOption, printJson, type Remote, type Target, targetHelp, targetOptions } from "./remote.ts"
import { aligned } from "./table.ts"
import { visible } from "./terminal.ts"

export interface KeysActions<E> {
  /** The configured server, if there is one; `url` overrides the setting. */
  readonly server: (target: Target) => Effect.Effect<Option.Option<Remote>, E>
  /** Provides the keys of the configured store. A missing store is created only if `createsStore`. */
  readonly withKeys: <A, E2>(
    effect: Effect.Effect<A, E2, Keys>,
    options?: { readonly createsStore: boolean }
  ) => Effect.Effect<A, E | E2>
}

export const keysCommand = <E>(actions: KeysActions<E>) =>
  Command.make("keys").pipe(
    Command.withDescription("Create, list, rotate and revoke API keys"),
    Command.withSubcommands([createKey(actions), listKeys(actions), rotateKey(actions), revokeKey(actions)])
  )

// ---- helpers ----

const { url } = targetOptions

const keyId = Args.text({ name: "key-id" }).pipe(Args.withDescription("Id of the key, as shown by keys list"))

const EXPIRY_FORMS = "a date such as 2027-01-31, which begins in UTC, or a time such as 2027-01-31T12:00:00Z"

const Expiry = Timestamp.FromRequest.annotations({
  message: ({ actual }) => {
    const missing = Timestamp.missingDay(actual)
    return {
      message: missing === undefined ? `Expected --expires to be ${EXPIRY_FORMS}` : `--expires: ${missing}`,
      override: true
    }
  }
})

const createKey = <E>(actions: KeysActions<E>) =>
  Command.make(
    "create",
    {
      url,
      account: nameOption("account").pipe(
        Options.withPseudoName("name"),
        Options.withDescription(
          `Account in the local store, created if it does not exist; on a server, the key determines it (default: ${DEFAULT_ACCOUNT})`
        ),
        Options.optional
      ),
      name: nameOption("name").pipe(
        Options.withPseudoName("text"),
        Options.withDescription("Name of the key, shown by keys list (default: key)"),
        Options.withDefault("key")
      ),
      scope: Options.choice("scope", Scope.literals).pipe(
        Options.withDescription(
          "What the key allows: read (lists, streams, status), write (also rules, webhooks, events) or admin (also keys) (default: admin)"
        ),
        Options.withDefault("admin" as const)
      ),
      expires: Options.text("expires").pipe(
        Options.withSchema(Expiry),
        Options.withPseudoName("time"),
        Options.withDescription(`The key stops working at this time: ${EXPIRY_FORMS} (default: never)`),
        Options.optional
      ),
      json: jsonOption("Print the key and its metadata as JSON")
    },
    ({ url, account, expires, json, ...rest }) =>
      Effect.gen(function* () {
        const now = yield* Timestamp.now
        if (Option.exists(expires, (at) => at <= now)) {
          return yield* new UsageError({ message: "Expected --expires to be in the future" })
        }
        const draft = { ...rest, ...(Option.isSome(expires) && { expires_at: expires.value }) }
        const issued = yield* either(
          actions,
          { url, account },
          {
            onServer: (server) => Effect.map(server.request(callOf(contracts.keys.create, draft)), hidden),
            inStore: Effect.gen(function* () {
              const keys = yield* Keys
              return yield* keys.create(yield* keys.account(Option.getOrElse(account, () => DEFAULT_ACCOUNT)), draft)
            }),
            createsStore: true
          }
        )
        yield* printSecret(json)(issued)
      })
  ).pipe(Command.withDescription(targetHelp("Create a key and print it.")))

const listKeys = <E>(actions: KeysActions<E>) =>
  Command.make("list", { url, json: jsonOption("Print the metadata of each key as JSON") }, ({ url, json }) =>
    Effect.gen(function* () {
      const all = yield* either(
        actions,
        { url, account: Option.none() },
        {
          onServer: (server) => Effect.map(server.request(callOf(contracts.keys.list)), ({ keys }) => keys),
          inStore: Effect.flatMap(Keys, (keys) => keys.list(EVERY_ACCOUNT))
        }
      )
      if (json) return yield* printJson({ keys: all })
      yield* Console.log(
        all.length === 0 ? "No keys yet. Create one with: earshot keys create" : table(all, yield* Timestamp.now)
      )
    })
  ).pipe(
    Command.withDescription(
      targetHelp(
        "List the keys of the account on a server, or all keys of the local store. LAST USED can lag by up to 65 seconds: it is updated at most once a minute."
      )
    )
  )

const rotateKey = <E>(actions: KeysActions<E>) =>
  Command.make(
    "rotate",
    {
      id: keyId,
      overlap: wholeNumberOption("overlap", OVERLAP_SECONDS).pipe(
        Options.withPseudoName("seconds"),
        Options.withDescription("How long the previous secret keeps working (default: 86400, a day)"),
        Options.withDefault(OVERLAP_SECONDS.fallback)
      ),
      url,
      json: jsonOption("Print the key and its metadata as JSON")
    },
    ({ id, overlap, url, json }) =>
      either(
        actions,
        { url, account: Option.none() },
        {
          onServer: (server) =>
            Effect.map(server.request(callOf(contracts.keys.rotate, { key_id: id, overlap_seconds: overlap })), hidden),
          inStore: Effect.flatMap(Keys, (keys) => keys.rotate(id, { ...EVERY_ACCOUNT, overlapSeconds: overlap }))
        }
      ).pipe(Effect.flatMap(printSecret(json)))
  ).pipe(
    Command.withDescription(targetHelp("Replace the secret of a key and print the new one. Both work for a while."))
  )

const revokeKey = <E>(actions: KeysActions<E>) =>
  Command.make(
    "revoke",
    {
      id: keyId,
      force: Options.boolean("force").pipe(
        Options.withDescription("Revoke even the last admin key of an account; only in the local store")
      ),
      url,
      json: jsonOption("Print the metadata of the key as JSON")
    },
    ({ id, force, url, json }) =>
      Effect.gen(function* () {
        const key = yield* either(
          actions,
          { url, account: Option.none() },
          {
            onServer: (server): Effect.Effect<Key, UsageError | RemoteFailure> =>
              force
                ? new UsageError({ message: "--force is for the local store only" })
                : Effect.map(server.request(callOf(contracts.keys.revoke, { key_id: id })), ({ key }) => key),
            inStore: Effect.flatMap(Keys, (keys) => keys.revoke(id, { ...EVERY_ACCOUNT, force }))
          }
        )
        if (json) return yield* printJson(key)
        yield* Console.log(`Revoked ${key.id} ("${visible(key.name)}" of account "${visible(key.account)}")`)
      })
  ).pipe(
    Command.withDescription(
      targetHelp("Revoke a key. A server on the embedded store rejects it at once, servers on Postgres within seconds.")
    )
  )

/** Unlike a plain schema, its error names the option. */
const nameOption = (option: string) =>
  Options.text(option).pipe(
    Options.withSchema(
      Schema.String.pipe(
        Schema.filter((text) => /^.{1,200}$/su.test(text.trim()), {
          message: () => `Expected --${option} to be 1 to 200 characters`
        })
      )
    ),
    Options.map((text) => text.trim())
  )

/** So that no log shows the secret. */
const hidden = ({ key, secret }: typeof contracts.keys.create.output.Type): IssuedKey => ({
  key,
  secret: Redacted.make(secret)
})

/** Runs on the configured server, or in the local store if there is none. */
const either = <E, A, E1, E2>(
  { server, withKeys }: KeysActions<E>,
  target: Target,
  run: {
    readonly onServer: (server: Remote) => Effect.Effect<A, E1>
    readonly inStore: Effect.Effect<A, E2, Keys>
    readonly createsStore?: boolean
  }
): Effect.Effect<A, E | E1 | E2> =>
  Effect.gen(function* () {
    const found = yield* server(target)
    if (Option.isSome(found)) return yield* run.onServer(found.value)
    return yield* withKeys(run.inStore, { createsStore: run.createsStore ?? false })
  })

const printSecret =
  (asJson: boolean) =>
  ({ key, secret }: IssuedKey) =>
    asJson
      ? printJson({ ...key, key: Redacted.value(secret) })
      : Effect.zipRight(
          Console.error(`Key ${key.id} of account "${visible(key.account)}", shown only once:`),
          Console.log(Redacted.value(secret))
        )

const table = (keys: ReadonlyArray<Key>, now: Timestamp.Timestamp): string =>
  aligned([
    ["ID", "ACCOUNT", "NAME", "SCOPE", "KEY", "CREATED", "LAST USED", "EXPIRES", "STATE"],
    ...keys.map((key) => [
      key.id,
      visible(key.account),
      visible(key.name),
      key.scope,
      key.hint,
      key.created_at,
      key.last_used_at ?? "never",
      key.expires_at ?? "never",
      stateOf(key, now)
    ])
  ])

const stateOf = ({ revoked_at, expires_at, previous_secret_until }: Key, now: Timestamp.Timestamp): string => {
  if (revoked_at !== null) return `revoked ${revoked_at}`
  if (expires_at !== null && expires_at <= now) return "expired"
  return previous_secret_until !== null && previous_secret_until > now
    ? `active, previous secret until ${previous_secret_until}`
    : "active"
}
