/** The grant use cases: a person allows an OAuth client to act for an account, and the client gets tokens for it. */
import { Clock, Context, Effect, Encoding, Layer, Option, Schema } from "effect"
import { afterCommit } from "../idempotency/CommitHooks.ts"
import { Entropy } from "../model/Entropy.ts"
import {
  ConsentNeedsKey,
  GrantNotFound,
  InvalidArgument,
  LimitReached,
  type StoreUnavailable,
  TokenRefused
} from "../model/Errors.ts"
import { type AccountId, GrantId, Ids, type KeyId } from "../model/Ids.ts"
import { isMistyped, makeSecret, type SecretPrefix } from "../model/secretText.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { type Client, Clients } from "./Clients.ts"
import {
  AccessRequest,
  GRANT_SCOPES,
  type Grant,
  type GrantEnd,
  type GrantScope,
  isActive,
  isWithin,
  type ShownRequest
} from "./Grant.ts"
import { GrantStore, type NewTokens, type StoredGrant } from "./GrantStore.ts"
import { isLocal, redirectHost, withParameters } from "./redirects.ts"
import { decodeSealed, makeSeals } from "./seals.ts"

/** Whoever decides on a request: the holder of a key that allows to write. */
export interface Decider {
  readonly account: AccountId
  /** None for the operator and for clients, which may not decide. */
  readonly key: Option.Option<KeyId>
}

/** Counts a request for the account that it is for, before anything is changed. */
export type Admit = (account: AccountId) => Effect.Effect<unknown, LimitReached>

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
  readonly expiresInSeconds: number
  readonly scope: GrantScope
}

/** Whoever sends an access token, and until when the answer holds at most. */
export interface TokenHolder {
  readonly account: AccountId
  readonly scope: GrantScope
  readonly key: KeyId
  readonly grant: { readonly id: GrantId; readonly client: string; readonly clientName: string }
  readonly ends: ReadonlyArray<Timestamp.Timestamp>
}

/** What `Keys` needs to accept access tokens like keys. */
export interface AccessTokens {
  readonly holderOf: (token: string) => Effect.Effect<Option.Option<TokenHolder>, StoreUnavailable>
  /** `forget` runs when a grant has ended in this process. */
  readonly onEnd: (forget: Effect.Effect<void>) => Effect.Effect<void>
}

export const isAccessToken = (secret: string): boolean => secret.startsWith(ACCESS_PREFIX)

/** Where tokens are issued, and what they are for. */
export interface Issuer {
  readonly issuer: string
  readonly resource: string
}

/** `publicUrl` is the origin under which clients reach the server. */
export const issuerAt = (publicUrl: string): Issuer => ({ issuer: publicUrl, resource: `${publicUrl}/mcp` })

export class Grants extends Context.Tag("core/Grants")<
  Grants,
  AccessTokens & {
    /** Returns the text with which a person decides on the request: within ten minutes. */
    readonly ask: (request: AccessRequest) => Effect.Effect<string, StoreUnavailable>
    readonly asked: (text: string) => Effect.Effect<ShownRequest, InvalidArgument | StoreUnavailable>
    /** Returns where the browser goes: with a code, or with the refusal if `scope` is none. A request is allowed once. */
    readonly decide: (
      by: Decider,
      text: string,
      scope: Option.Option<GrantScope>
    ) => Effect.Effect<string, InvalidArgument | ConsentNeedsKey | LimitReached | StoreUnavailable>
    /** Where the browser goes if a request cannot be carried out. `error` as in RFC 6749. */
    readonly refusalOf: (request: {
      readonly redirectUri: string
      readonly state: string | null
      readonly error: string
      readonly reason: string
    }) => string
    /** The code and the verifier become tokens, once. A second time ends the grant. */
    readonly exchange: (request: {
      readonly clientId: string
      readonly code: string
      readonly verifier: string
      readonly redirectUri: Option.Option<string>
      readonly resource: Option.Option<string>
      readonly admit: Admit
    }) => Effect.Effect<Tokens, TokenRefused | LimitReached | StoreUnavailable>
    /** A refresh token becomes new tokens. One that was replaced ends the grant, except for a moment after. */
    readonly refresh: (request: {
      readonly clientId: string
      readonly token: string
      readonly scope: Option.Option<string>
      readonly resource: Option.Option<string>
      readonly admit: Admit
    }) => Effect.Effect<Tokens, TokenRefused | LimitReached | StoreUnavailable>
    /** Ends the grant of an access or refresh token. Does nothing for any other text, or a token of another client. */
    readonly giveUp: (request: {
      readonly clientId: Option.Option<string>
      readonly token: string
    }) => Effect.Effect<void, StoreUnavailable>
    /** Oldest first, including ended and expired grants; none that a client has not used yet. */
    readonly list: (account: AccountId) => Effect.Effect<ReadonlyArray<Grant>, StoreUnavailable>
    /** `id` may be any text. */
    readonly revoke: (id: string, account: AccountId) => Effect.Effect<Grant, GrantNotFound | StoreUnavailable>
  }
>() {
  /** Without an issuer nothing is issued, and no token is accepted. */
  static readonly layerWith = ({
    issuer: own
  }: {
    readonly issuer: Option.Option<Issuer>
  }): Layer.Layer<Grants, never, GrantStore | Clients | Ids | Entropy> =>
    Layer.effect(
      Grants,
      Effect.gen(function* () {
        const store = yield* GrantStore
        const clients = yield* Clients
        const ids = yield* Ids
        const entropy = yield* Entropy
        const seals = yield* makeSeals
        const { issuer, resource } = Option.getOrElse(own, () => ({ issuer: "", resource: "" }))
        const listeners: Array<Effect.Effect<void>> = []

        const forget = afterCommit(Effect.suspend(() => Effect.all(listeners, { discard: true })))

        const end = (id: GrantId, by: GrantEnd, account: Option.Option<AccountId> = Option.none()) =>
          Effect.gen(function* () {
            const ended = yield* store.end({ id, account }, { at: yield* Timestamp.now, by })
            yield* forget
            return ended
          })

        const newSecret = (prefix: SecretPrefix) => makeSecret(entropy.bytes, prefix)

        /** Tokens are stored by their digest only, and found by it: a comparison of digests tells nothing of the token. */
        const digestOf = (token: string) => entropy.sha256(token)

        const newTokens = (scope: GrantScope, now: number): { readonly tokens: Tokens; readonly stored: NewTokens } => {
          const [accessToken, refreshToken] = [newSecret(ACCESS_PREFIX), newSecret(REFRESH_PREFIX)]
          const until = (seconds: number) => Timestamp.fromMillis(now + seconds * 1_000)
          return {
            tokens: { accessToken, refreshToken, expiresInSeconds: ACCESS_SECONDS, scope },
            stored: {
              access: { digest: digestOf(accessToken), expiresAt: until(ACCESS_SECONDS) },
              refresh: { digest: digestOf(refreshToken), expiresAt: until(REFRESH_SECONDS) }
            }
          }
        }

        const isOwn = (grant: StoredGrant) => Option.isSome(own) && grant.resource === resource

        const holderOf = (token: string) =>
          Effect.gen(function* () {
            const now = yield* Timestamp.now
            const found = Option.getOrUndefined(yield* store.findByToken(digestOf(token), now))
            if (found === undefined || found.kind !== "access" || found.expiresAt <= now) return Option.none()
            const { grant, expiresAt } = found
            if (!isActive(grant, now) || !isOwn(grant)) return Option.none()
            const lastUse = Date.parse(grant.last_used_at ?? grant.created_at)
            if (grant.last_used_at === null || Date.parse(now) - lastUse > TOUCH_INTERVAL_MILLIS) {
              yield* store.touch(grant.id, now)
            }
            return Option.some({
              account: grant.account_id,
              scope: grant.scope,
              key: grant.key_id,
              grant: { id: grant.id, client: grant.client_id, clientName: grant.client_name },
              ends: [expiresAt, ...(grant.keyEndsAt === null ? [] : [grant.keyEndsAt])]
            })
          })

        const ask = (request: AccessRequest) =>
          Effect.gen(function* () {
            const until = (yield* Clock.currentTimeMillis) + REQUEST_MILLIS
            return yield* seals.seal("request", JSON.stringify({ ...request, id: yield* ids.grant, until }))
          })

        const unsealed = (text: string) =>
          Effect.gen(function* () {
            const request = Option.getOrUndefined(decodeRequest(yield* seals.unseal("request", text)))
            const now = yield* Clock.currentTimeMillis
            return request === undefined || request.until <= now || Option.isNone(own)
              ? yield* new InvalidArgument({ issues: [{ path: "request", message: NO_REQUEST }] })
              : request
          })

        const asked = Effect.fn("Grants.asked")(function* (text: string) {
          const { client, redirectUri, scope } = yield* unsealed(text)
          return {
            client_id: client.id,
            client_name: client.name,
            client_kind: client.kind,
            redirect_host: redirectHost(redirectUri),
            is_local: isLocal(redirectUri),
            scopes: GRANT_SCOPES.filter((one) => isWithin(one, scope)),
            resource
          }
        })

        const answered = (request: AccessRequest, parameters: Readonly<Record<string, string>>) =>
          withParameters(request.redirectUri, {
            ...parameters,
            ...(request.state !== null && { state: request.state }),
            // Tells the client who answers, which prevents mix-up attacks (RFC 9207).
            iss: issuer
          })

        const refusalOf: Grants["Type"]["refusalOf"] = ({ redirectUri, state, error, reason }) =>
          withParameters(redirectUri, {
            error,
            error_description: reason,
            ...(state !== null && { state }),
            iss: issuer
          })

        const decide = Effect.fn("Grants.decide")(function* (
          { account, key }: Decider,
          text: string,
          scope: Option.Option<GrantScope>
        ) {
          const request = yield* unsealed(text)
          if (Option.isNone(key)) return yield* new ConsentNeedsKey()
          const now = yield* Clock.currentTimeMillis
          const at = Timestamp.fromMillis(now)
          const grants = yield* store.list(Option.some(account), at)
          if (grants.some(({ id }) => id === request.id)) return yield* allowedBefore
          if (Option.isNone(scope)) return answered(request, { error: "access_denied" })
          if (!isWithin(scope.value, request.scope)) {
            const message = `The client asks for "${request.scope}" only: allow that`
            return yield* new InvalidArgument({ issues: [{ path: "decision", message }] })
          }
          const used = grants.filter((grant) => isActive(grant, at)).length
          if (used >= GRANTS_PER_ACCOUNT) {
            return yield* new LimitReached({ name: "grants", limit: GRANTS_PER_ACCOUNT, used })
          }
          const code = newSecret(CODE_PREFIX)
          const { id, client, redirectUri, challenge } = request
          const isFirst = yield* store.insert({
            id,
            account_id: account,
            client_id: client.id,
            client_name: client.name,
            redirect_host: redirectHost(redirectUri),
            scope: scope.value,
            resource,
            key_id: key.value,
            created_at: at,
            codeDigest: digestOf(code),
            redirectUri,
            challenge,
            expiresAt: Timestamp.fromMillis(now + CODE_MILLIS)
          })
          if (!isFirst) return yield* allowedBefore
          return answered(request, { code })
        })

        const refused = (reason: string, error: TokenRefused["error"] = "invalid_grant") =>
          new TokenRefused({ error, reason })

        const checkClient = (clientId: string, grant: StoredGrant) =>
          Effect.gen(function* () {
            const id = yield* clients.idOf(clientId)
            if (Option.isNone(id)) return yield* refused("This client is not registered here", "invalid_client")
            if (id.value !== grant.client_id) return yield* refused("It was issued to another client")
          })

        const checkResource = (wanted: Option.Option<string>) =>
          Option.exists(wanted, (wanted) => !isResource(wanted, resource))
            ? refused(`Tokens are issued for ${resource} only`, "invalid_target")
            : Effect.void

        /** Somebody has what only the client should have. */
        const reused = (grant: StoredGrant, what: string) =>
          Effect.gen(function* () {
            yield* Effect.logWarning(`A ${what} of grant ${grant.id} was used a second time: the grant has ended`)
            yield* end(grant.id, "reuse")
            return yield* refused(`The ${what} was used before, so that access has ended: ask the user again`)
          })

        const exchange = Effect.fn("Grants.exchange")(function* ({
          clientId,
          code,
          verifier,
          redirectUri,
          resource: wanted,
          admit
        }: Parameters<Grants["Type"]["exchange"]>[0]) {
          const now = yield* Clock.currentTimeMillis
          const at = Timestamp.fromMillis(now)
          const found = isMistyped(code) ? Option.none() : yield* store.findByCode(digestOf(code), at)
          if (Option.isNone(found)) return yield* refused("The code is not known or no longer valid")
          const { grant, challenge, expiresAt, redirectUri: registered } = found.value
          yield* admit(grant.account_id)
          yield* checkClient(clientId, grant)
          if (Option.exists(redirectUri, (uri) => uri !== registered)) {
            return yield* refused("redirect_uri differs from the one of the authorization request")
          }
          if (challengeOf(entropy.sha256(verifier)) !== challenge) {
            return yield* refused("code_verifier does not match the code_challenge of the authorization request")
          }
          yield* checkResource(wanted)
          if (grant.isExchanged) return yield* reused(grant, "code")
          if (expiresAt <= at || !isActive(grant, at) || !isOwn(grant)) {
            return yield* refused("The code is not known or no longer valid")
          }
          const { tokens, stored } = newTokens(grant.scope, now)
          return (yield* store.exchange(grant.id, stored, at)) ? tokens : yield* reused(grant, "code")
        })

        const refresh = Effect.fn("Grants.refresh")(function* ({
          clientId,
          token,
          scope,
          resource: wanted,
          admit
        }: Parameters<Grants["Type"]["refresh"]>[0]) {
          const now = yield* Clock.currentTimeMillis
          const at = Timestamp.fromMillis(now)
          const found = isMistyped(token) ? Option.none() : yield* store.findByToken(digestOf(token), at)
          if (Option.isNone(found) || found.value.kind !== "refresh") return yield* refused(NO_REFRESH)
          const { grant, generation, expiresAt } = found.value
          yield* admit(grant.account_id)
          yield* checkClient(clientId, grant)
          if (expiresAt <= at || !isActive(grant, at) || !isOwn(grant)) return yield* refused(NO_REFRESH)
          yield* checkResource(wanted)
          const more = scopesIn(Option.getOrElse(scope, () => "")).filter((one) => !isWithin(one, grant.scope))
          if (more.length > 0) return yield* refused(`The user has allowed "${grant.scope}" only`, "invalid_scope")
          const { tokens, stored } = newTokens(grant.scope, now)
          const options = { at, graceMillis: GRACE_MILLIS }
          const isRotated = yield* store.rotate(grant.id, generation, stored, options)
          return isRotated ? tokens : yield* reused(grant, "refresh token")
        })

        const giveUp = Effect.fn("Grants.giveUp")(function* ({
          clientId,
          token
        }: Parameters<Grants["Type"]["giveUp"]>[0]) {
          if (isMistyped(token)) return
          const found = Option.getOrUndefined(yield* store.findByToken(digestOf(token), yield* Timestamp.now))
          if (found === undefined) return
          const id = Option.isNone(clientId) ? Option.none() : yield* clients.idOf(clientId.value)
          if (Option.isSome(clientId) && Option.getOrNull(id) !== found.grant.client_id) return
          yield* end(found.grant.id, "client")
        })

        const list = (account: AccountId) =>
          Effect.gen(function* () {
            const all = yield* store.list(Option.some(account), yield* Timestamp.now)
            return all.filter(({ isExchanged }) => isExchanged).map(toGrant)
          })

        const revoke = Effect.fn("Grants.revoke")(function* (text: string, account: AccountId) {
          const id = Option.getOrUndefined(asGrantId(text))
          if (id === undefined) return yield* new GrantNotFound({ grantId: text })
          const ended = yield* end(id, "revoked", Option.some(account))
          return Option.isSome(ended) ? toGrant(ended.value) : yield* new GrantNotFound({ grantId: text })
        })

        return Grants.of({
          holderOf,
          onEnd: (forget) => Effect.sync(() => void listeners.push(forget)),
          ask,
          asked,
          decide,
          refusalOf,
          exchange,
          refresh,
          giveUp,
          list,
          revoke
        })
      })
    )
}

/** Those that a grant can have; others are ignored. */
export const scopesIn = (text: string): ReadonlyArray<GrantScope> => {
  const names = text.split(" ")
  return GRANT_SCOPES.filter((scope) => names.includes(scope))
}

/** Whether a resource indicator (RFC 8707) means this resource. */
export const isResource = (wanted: string, resource: string): boolean =>
  URL.canParse(wanted) && new URL(wanted).href.replace(/\/$/, "") === new URL(resource).href

export const accessRequestOf = (client: Client, rest: Omit<AccessRequest, "client">): AccessRequest => ({
  client: { id: client.id, name: client.name, kind: client.kind },
  ...rest
})

// ---- helpers ----

const ACCESS_PREFIX = "eat_"
const REFRESH_PREFIX = "ert_"
const CODE_PREFIX = "eac_"

const ACCESS_SECONDS = 3_600
const REFRESH_SECONDS = 30 * 86_400
const CODE_MILLIS = 300_000
const REQUEST_MILLIS = 600_000

/**
 * A client that makes several calls at once refreshes for each of them, with the same refresh token: the official client
 * does, and a second use would end the grant.
 */
const GRACE_MILLIS = 30_000

const TOUCH_INTERVAL_MILLIS = 60_000
const GRANTS_PER_ACCOUNT = 100

const NO_REQUEST =
  "Expected a request of a client that is at most ten minutes old: go back to the client, and connect it again"

const allowedBefore = new InvalidArgument({
  issues: [
    {
      path: "request",
      message: "Was allowed before: go back to the client, and connect it again if it is not connected"
    }
  ]
})

const NO_REFRESH = "The refresh token is not known, has expired or was revoked: ask the user again"

const asGrantId = Schema.decodeUnknownOption(GrantId)

const decodeRequest = decodeSealed(Schema.Struct({ ...AccessRequest.fields, id: GrantId, until: Schema.Number }))

/** Of a digest in hexadecimal. */
const challengeOf = (digest: string): string => {
  const bytes = Uint8Array.from(digest.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  return Encoding.encodeBase64Url(bytes)
}

const toGrant = ({ isExchanged: _, keyEndsAt: __, ...grant }: StoredGrant): Grant => grant
