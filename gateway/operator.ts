/**
 * The operator's door. It needs no key, so its transport must let in the operator only. A request with
 * `Authorization: Bearer <account id>` acts as that account, on all paths of the gateway.
 */
import { Effect, Either, Option, Redacted, Schema } from "effect"
import { platformSchemas } from "../api/platformSchemas.ts"
import { platforms as platformContracts } from "../api/platforms.ts"
import { Account, AccountSummary, Accounts } from "../core/accounts/Accounts.ts"
import type { Redactions } from "../core/compliance/Redactions.ts"
import type { Idempotency } from "../core/idempotency/Idempotency.ts"
import { DeadLetters } from "../core/ingest/DeadLetters.ts"
import { type Caller, Key } from "../core/keys/Key.ts"
import { IssuedKey, KeyDraft, Keys } from "../core/keys/Keys.ts"
import { Entropy } from "../core/model/Entropy.ts"
import {
  InvalidArgument,
  KeyInactive,
  KeyNotFound,
  LastAdminKey,
  LimitReached,
  StoreUnavailable,
  Unauthenticated
} from "../core/model/Errors.ts"
import { AccountId } from "../core/model/Ids.ts"
import { PlatformId } from "../core/model/PlatformId.ts"
import type { LocalFeed } from "../core/platforms/LocalFeed.ts"
import { Platforms } from "../core/platforms/Platform.ts"
import { Quotas } from "../core/quotas/Quotas.ts"
import { DrillMode, isDrill } from "../core/status/Drill.ts"
import { Status } from "../core/status/Status.ts"
import { bearer } from "./auth.ts"
import { decoder } from "./decode.ts"
import { type DoorServices, type GatewayOptions, gateway } from "./gateway.ts"
import { readJson } from "./http/body.ts"
import { type Handler, makeHandler, pathOf } from "./http/handler.ts"
import { EVENTS_PATH, sharedEventsRoute } from "./http/local.ts"
import { REDACT_PATH, redactRoute } from "./http/redact.ts"
import { json, type OpenRoute, type OperatorRoute } from "./http/route.ts"
import { serverInfoRoute } from "./http/serverInfo.ts"

/** How the arguments, the result and the failure of a use case travel. */
export interface Operation<Args, A, E> {
  readonly args: Json<Args>
  readonly result: Json<A>
  readonly failure: Json<E>
}

// biome-ignore lint/suspicious/noExplicitAny: what the value looks like in JSON does not matter here
type Json<A> = Schema.Schema<A, any>

// biome-ignore lint/suspicious/noExplicitAny: operations in a table have different types; each is checked in its table
export type AnyOperation = Operation<any, any, any>

/** Operations by the name of the method that they call, whose type their schemas must have. */
type OperationsOf<Service> = {
  readonly [Method in keyof Service]?: Service[Method] extends (...args: infer Args) => Effect.Effect<infer A, infer E>
    ? Operation<Readonly<Args>, A, E>
    : never
}

const owner = { account: Schema.OptionFromNullOr(AccountId) }

const keys = {
  create: {
    args: Schema.Tuple(AccountId, KeyDraft),
    result: IssuedKey,
    failure: Schema.Union(InvalidArgument, LimitReached, StoreUnavailable)
  },
  account: { args: Schema.Tuple(Schema.String), result: AccountId, failure: StoreUnavailable },
  list: { args: Schema.Tuple(Schema.Struct(owner)), result: Schema.Array(Key), failure: StoreUnavailable },
  revoke: {
    args: Schema.Tuple(Schema.String, Schema.Struct({ ...owner, force: Schema.Boolean })),
    result: Key,
    failure: Schema.Union(KeyNotFound, LastAdminKey, StoreUnavailable)
  },
  rotate: {
    args: Schema.Tuple(Schema.String, Schema.Struct({ ...owner, overlapSeconds: Schema.Number })),
    result: IssuedKey,
    failure: Schema.Union(KeyNotFound, KeyInactive, StoreUnavailable)
  }
} satisfies OperationsOf<Keys["Type"]>

const deadLetters = {
  list: {
    args: Schema.Tuple(Schema.Number),
    result: Schema.Array(
      Schema.Struct({
        platform: PlatformId,
        platformPostId: Schema.String,
        at: Schema.Number,
        reason: Schema.String,
        payload: Schema.String
      })
    ),
    failure: StoreUnavailable
  }
} satisfies OperationsOf<DeadLetters["Type"]>

const accounts = {
  get: { args: Schema.Tuple(AccountId), result: Account, failure: StoreUnavailable },
  list: { args: Schema.Tuple(), result: Schema.Array(AccountSummary), failure: StoreUnavailable },
  setLimit: {
    args: Schema.Tuple(AccountId, Schema.String, Schema.OptionFromNullOr(Schema.Number)),
    result: Account,
    failure: Schema.Union(InvalidArgument, StoreUnavailable)
  }
} satisfies OperationsOf<Accounts["Type"]>

/** All operations, by service and method. */
export const operatorOperations = { keys, deadLetters, accounts }

export const operationPath = (service: string, method: string) => `/operator/${service}/${method}`

/** The answer of an operation. */
export const answerOf = <Args, A, E>({ result, failure }: Operation<Args, A, E>) =>
  Schema.Either({ left: failure, right: result })

export const operatorGateway = (
  options: GatewayOptions
): Effect.Effect<Handler, never, DoorServices | DeadLetters | Redactions | Entropy> =>
  Effect.gen(function* () {
    const service = yield* Keys
    const authenticate = (text: string) =>
      Effect.mapBoth(Schema.decode(AccountId)(text), {
        onFailure: () => new Unauthenticated({ key: "refused" }),
        onSuccess: (account): Caller => ({ account, scope: "admin" })
      })
    // The requests of the operator do not count for the account.
    const quotas = { ...(yield* Quotas), admit: () => Effect.succeedNone }
    const asAccount = yield* gateway(options).pipe(
      Effect.provideService(Keys, { ...service, authenticate }),
      Effect.provideService(Quotas, quotas)
    )
    const asOperator = yield* makeHandler<KeyServices>(
      [
        serverInfoRoute({ version: options.version, hasConsole: false }),
        ...(yield* keyRoutes),
        ...routesOf("keys", keys, service),
        ...routesOf("deadLetters", deadLetters, yield* DeadLetters),
        ...routesOf("accounts", accounts, yield* Accounts)
      ],
      []
    )
    return (request, push) => (request.headers.has("authorization") ? asAccount(request, push) : asOperator(request))
  })

/** Adds the operator's key to a handler, for the paths that need it. */
export const withOperatorKey = (
  key: Redacted.Redacted,
  handler: Handler
): Effect.Effect<Handler, never, KeyServices | Keys | Platforms | Quotas | Entropy> =>
  Effect.gen(function* () {
    const { sha256 } = yield* Entropy
    const expected = sha256(Redacted.value(key))
    const asOperator = yield* makeHandler<KeyServices>(yield* keyRoutes, [])
    const isOperators = (request: Request) =>
      isSameDigest(sha256(bearer(request.headers.get("authorization")) ?? ""), expected)
    return (request, push) =>
      KEY_PATHS.has(pathOf(request.url)) && isOperators(request) ? asOperator(request) : handler(request, push)
  })

// ---- helpers ----

type KeyServices = LocalFeed | Redactions | Status | Idempotency

/** With the share of each account in the budget, and the disk of the store. */
const statusRoute: OpenRoute<Status> = {
  method: "GET",
  path: platformContracts.status.path,
  reply: () =>
    Effect.gen(function* () {
      const status = yield* Status
      const drill = yield* DrillMode
      return json(200, {
        platforms: yield* status.platforms(Option.none()),
        store: yield* status.store,
        ...(isDrill(drill) && { drill })
      })
    })
}

const KEY_PATHS: ReadonlySet<string> = new Set([EVENTS_PATH, REDACT_PATH, statusRoute.path])

/** The routes of `KEY_PATHS`. */
const keyRoutes = Effect.gen(function* () {
  const platforms = yield* Platforms
  const languages = (yield* platforms.all).map(({ language }) => language)
  return [sharedEventsRoute, redactRoute(platformSchemas(languages)), statusRoute]
})

const routesOf = (
  name: string,
  operations: Readonly<Record<string, AnyOperation>>,
  service: object
): ReadonlyArray<OperatorRoute<never>> =>
  Object.entries(operations).map(([method, operation]) => {
    const decode = decoder(operation.args)
    const encode = Schema.encodeSync(answerOf(operation))
    // `OperationsOf` has checked that the service has such a method.
    const call = (service as Readonly<Record<string, Method>>)[method] as Method
    return {
      method: "POST",
      path: operationPath(name, method),
      readOperators: async (request) =>
        Either.map(Either.flatMap(await readJson(request, { allIsOptional: false }), decode), (args) =>
          Effect.map(Effect.either(call(...args)), (answer) => json(200, encode(answer)))
        )
    }
  })

type Method = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>

/** Takes the same time wherever they differ. */
const isSameDigest = (a: string, b: string): boolean => {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}
