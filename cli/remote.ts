/** Port to Earshot for client commands: a server, or the local store. */
import { HelpDoc, Options } from "@effect/cli"
import { Console, Data, Effect, type Option, type Scope, type Stream } from "effect"
import type { RemoteFailure, Send } from "../api/calls.ts"
import { DEFAULT_ACCOUNT, EVERY_ACCOUNT, Keys } from "../core/keys/Keys.ts"
import type { StoreUnavailable } from "../core/model/Errors.ts"
import type { AccountId } from "../core/model/Ids.ts"
import { visibleJson } from "./terminal.ts"

export interface Remote {
  readonly request: Send
  /** Opens a stream of server-sent events: stored events after that id, then new ones. */
  readonly events: (
    path: string,
    after: Option.Option<string>
  ) => Effect.Effect<Stream.Stream<RemoteEvent, RemoteFailure>, RemoteFailure, Scope.Scope>
  /** False for the embedded store: no other process uses it, so no new matches arrive. */
  readonly isLive: boolean
}

/** May carry only an id: the cursor up to which everything was sent. */
export interface RemoteEvent {
  readonly id?: string
  readonly name: string
  readonly data: string
}

/** What a command works on: a server, if one is configured, otherwise the local store. */
export interface Target {
  readonly url: Option.Option<string>
  /** Only for the local store: on a server, the key determines the account. */
  readonly account: Option.Option<string>
}

export interface TargetActions<E> {
  readonly connectTo: (target: Target) => Effect.Effect<Remote, E, Scope.Scope>
}

export const keyOption = Options.text("idempotency-key").pipe(
  Options.withPseudoName("text"),
  Options.withDescription(
    "Makes it safe to repeat the command: within 24 hours, the same key runs it only once and prints the first response again (default: none)"
  ),
  Options.optional
)

export const urlOption = Options.text("url").pipe(
  Options.withPseudoName("url"),
  Options.withDescription("URL of the server (default: EARSHOT_URL)"),
  Options.optional
)

export const targetOptions = {
  url: urlOption,
  account: Options.text("account").pipe(
    Options.withPseudoName("name"),
    Options.withDescription(
      `Account in the local store; on a server, the key determines it (default: ${DEFAULT_ACCOUNT})`
    ),
    Options.optional
  )
}

export const jsonOption = (about: string) => Options.boolean("json").pipe(Options.withDescription(about))

export const printJson = (value: unknown) => Console.log(visibleJson(value, 2))

/** For the help of commands that use a server or the local store. */
export const targetHelp = (about: string): HelpDoc.HelpDoc =>
  HelpDoc.blocks([
    HelpDoc.p(about),
    HelpDoc.p(
      "The command calls the server at --url or EARSHOT_URL with the key in EARSHOT_API_KEY. If all three are unset, it uses the local store (EARSHOT_DATA_DIR or DATABASE_URL), through the server that uses the store if there is one."
    )
  ])

export class AccountNotFound extends Data.TaggedError("AccountNotFound")<{ readonly message: string }> {}

/** The default account always exists; any other exists once it has a key. */
export const findAccount = (name: string): Effect.Effect<AccountId, AccountNotFound | StoreUnavailable, Keys> =>
  Effect.gen(function* () {
    const keys = yield* Keys
    if (name === DEFAULT_ACCOUNT) return yield* keys.account(name)
    const all = yield* keys.list(EVERY_ACCOUNT)
    const found = all.find((key) => key.account === name)
    if (found !== undefined) return found.account_id
    const names = [...new Set(all.map((key) => `"${key.account}"`))]
    const known = names.length === 0 ? "there is only the default one" : `there are ${names.slice(0, 10).join(", ")}`
    return yield* new AccountNotFound({
      message: `Cannot find account "${name}": ${known}${names.length > 10 ? " and others" : ""}; create it with: earshot keys create --account NAME`
    })
  })
