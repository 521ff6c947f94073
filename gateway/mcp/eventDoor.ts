/** What the methods for events need of whoever is connected: rights, a place for streams, and delivery by webhooks. */
import { Effect, Option, type Scope } from "effect"
import { asActor, type Caller } from "../../core/keys/Key.ts"
import type { Language } from "../../core/languages/Language.ts"
import { Matches } from "../../core/matches/Matches.ts"
import { type CallbackFailed, Unauthenticated } from "../../core/model/Errors.ts"
import { principalOf } from "../../core/webhooks/Subscription.ts"
import {
  type Subscribed,
  type SubscribeRequest,
  Subscriptions,
  type UnsubscribeRequest,
  type Wish
} from "../../core/webhooks/Subscriptions.ts"
import { authenticateHeader, type ScopeCheck } from "../auth.ts"
import { type DoorFailure, toWire } from "../errors.ts"
import type { Services } from "../operations/Handlers.ts"
import type { CallError } from "./calls.ts"

/** An event with its arguments. */
export type Asked = Pick<Wish, "name" | "selection">

/** Delivery by webhooks. */
export interface Subscriber<R> {
  readonly subscribe: (
    asked: Asked,
    request: SubscribeRequest,
    client: string | undefined
  ) => Effect.Effect<Subscribed, DoorFailure | CallbackFailed, R>
  readonly unsubscribe: (
    asked: Asked,
    request: UnsubscribeRequest
  ) => Effect.Effect<void, DoorFailure | CallbackFailed, R>
}

export interface EventDoor<R> {
  readonly languages: ReadonlyArray<Language>
  /** None: nobody here sends. */
  readonly subscriber: Option.Option<Subscriber<R>>
  /** Fails once the client may not read any more. Streams run it again. */
  readonly check: Effect.Effect<void, CallError, R>
  /** Counts a stream until the scope closes. */
  readonly hold: Effect.Effect<void, CallError, R | Scope.Scope>
}

/** Over HTTP. `authorization`: the header of the request. */
export const eventsAs = (
  caller: Caller,
  {
    languages,
    authorization,
    check
  }: {
    readonly languages: ReadonlyArray<Language>
    readonly authorization: string | null
    readonly check: ScopeCheck
  }
): EventDoor<Services> => {
  const withWish = <A, E>(
    asked: Asked,
    use: (subscriptions: Subscriptions["Type"], wish: Wish) => Effect.Effect<A, E>
  ) =>
    Effect.gen(function* () {
      yield* check("write")
      const principal = principalOf(caller)
      if (Option.isNone(principal)) return yield* new Unauthenticated({ key: "missing" })
      const wish = { ...asked, account: caller.account, principal: principal.value }
      return yield* asActor(caller, use(yield* Subscriptions, wish))
    })
  const subscriber: Subscriber<Services> = {
    subscribe: (asked, request, client) => {
      // A client that signed in is listed with the same name among the grants.
      const name = Option.fromNullable(caller.grant?.clientName ?? client)
      return withWish(asked, ({ subscribe }, wish) => subscribe(wish, request, name))
    },
    unsubscribe: (asked, request) => withWish(asked, ({ unsubscribe }, wish) => unsubscribe(wish, request))
  }
  return {
    languages,
    subscriber: Option.some(subscriber),
    check: Effect.asVoid(Effect.mapError(authenticateHeader(authorization), toWire)),
    hold: Effect.flatMap(Matches, (matches) => Effect.mapError(matches.countStream(caller.account), toWire))
  }
}
