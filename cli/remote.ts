/** The port to an Earshot, for commands that ask something of one: a server, or the store of this machine. */
import { HelpDoc, Options } from "@effect/cli"
import { Data, Effect, type Option, type Schema, type Scope, type Stream } from "effect"
import { DEFAULT_ACCOUNT, Keys } from "../core/keys/Keys.ts"
import type { StorageUnavailable } from "../core/model/Errors.ts"
import type { AccountId } from "../core/model/Ids.ts"

export interface Remote {
  /** Gives the answer, decoded. */
  readonly request: <A, I>(call: RemoteCall<A, I>) => Effect.Effect<A, RemoteFailure>
  /** Opens a stream of server-sent events: those after the one of that id, and then each as it comes. */
  readonly events: (
    path: string,
    after: Option.Option<string>
  ) => Effect.Effect<Stream.Stream<RemoteEvent, RemoteFailure>, RemoteFailure, Scope.Scope>
  /** False for the embedded store: who has it open is alone with it, so nothing new comes in. */
  readonly isLive: boolean
}

export interface RemoteCall<A, I> {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body?: { readonly type: string; readonly content: Uint8Array<ArrayBuffer> | string }
  readonly answer: Schema.Schema<A, I>
}

/** Nothing but an id tells up to where all has been sent. */
export interface RemoteEvent {
  readonly id?: string
  readonly name: string
  readonly data: string
}

export type RemoteFailure = RemoteRefused | RemoteUnreachable

/** It said no. The first three fields are as it sent them. */
export interface RemoteRefused extends Error {
  readonly _tag: "RemoteRefused"
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  /** How long it asks to wait before trying again. */
  readonly retryAfterSeconds: number | undefined
}

/** Nothing answered, or something that is no Earshot. */
export interface RemoteUnreachable extends Error {
  readonly _tag: "RemoteUnreachable"
  readonly message: string
}

/** Where a command goes: to a server as soon as one is named, otherwise to the store of this machine. */
export interface Place {
  readonly url: Option.Option<string>
  /** For the store alone: a server knows it by the key. */
  readonly account: Option.Option<string>
}

export interface PlaceActions<E> {
  readonly at: (place: Place) => Effect.Effect<Remote, E, Scope.Scope>
}

/** The call of an operation that takes JSON. */
export const post = <A, I>(path: string, input: unknown, answer: Schema.Schema<A, I>): RemoteCall<A, I> => ({
  method: "POST",
  path,
  body: { type: "application/json", content: JSON.stringify(input) },
  answer
})

export const urlOption = Options.text("url").pipe(
  Options.withPseudoName("address"),
  Options.withDescription("Address of the server (default: what EARSHOT_URL says)"),
  Options.optional
)

export const placeOptions = {
  url: urlOption,
  account: Options.text("account").pipe(
    Options.withPseudoName("name"),
    Options.withDescription(
      `Account to act for, in the store of this machine; a server knows it by the key (default: ${DEFAULT_ACCOUNT})`
    ),
    Options.optional
  )
}

export const jsonOption = (about: string) => Options.boolean("json").pipe(Options.withDescription(about))

/** For the help of every command that asks a server or the store. */
export const placeHelp = (about: string): HelpDoc.HelpDoc =>
  HelpDoc.blocks([
    HelpDoc.p(about),
    HelpDoc.p(
      "It goes to the server that EARSHOT_URL or --url names, with the key in EARSHOT_API_KEY. With none of the three it works on the store of this machine (EARSHOT_DATA_DIR or DATABASE_URL) itself; the embedded one belongs to one process at a time."
    )
  ])

/** There is none of that name in the store. */
export class AccountNotFound extends Data.TaggedError("AccountNotFound")<{ readonly message: string }> {}

/** The default account is always there; any other is from its first key on. */
export const accountNamed = (name: string): Effect.Effect<AccountId, AccountNotFound | StorageUnavailable, Keys> =>
  Effect.gen(function* () {
    const keys = yield* Keys
    if (name === DEFAULT_ACCOUNT) return yield* keys.account(name)
    const all = yield* keys.list
    const found = all.find((key) => key.account === name)
    if (found !== undefined) return found.account_id
    const names = [...new Set(all.map((key) => `"${key.account}"`))]
    const known =
      names.length === 0 ? "there is none but the default one" : `there are ${names.slice(0, 10).join(", ")}`
    return yield* new AccountNotFound({
      message: `Cannot find account "${name}": ${known}${names.length > 10 ? " and others" : ""}; make it with: earshot keys create --account`
    })
  })
