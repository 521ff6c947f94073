/** OAuth clients: those that Earshot knows, those that a document describes, and those that registered themselves. */
import { Clock, Context, Effect, Either, Layer, Option, Predicate, Schema } from "effect"
import { Entropy } from "../model/Entropy.ts"
import type { StoreUnavailable } from "../model/Errors.ts"
import { ClientDocuments } from "./ClientDocuments.ts"
import type { ClientKind } from "./Grant.ts"
import type { GrantStore } from "./GrantStore.ts"
import { PerMinute } from "./PerMinute.ts"
import { redirectHost, redirectProblem } from "./redirects.ts"
import { decodeSealed, makeSeals } from "./seals.ts"

/** A client has no secret: it proves with PKCE that it sent the request. */
export interface Client {
  /** The id that it sends, or a digest of one that is long. */
  readonly id: string
  readonly kind: ClientKind
  readonly name: string
  readonly redirectUris: ReadonlyArray<string>
}

export interface Registered extends Pick<Client, "name" | "redirectUris"> {
  readonly clientId: string
  readonly issuedAtSeconds: number
}

/** What a client says of itself cannot be used. `error` as in RFC 7591. */
export class MetadataInvalid extends Schema.TaggedError<MetadataInvalid>()("MetadataInvalid", {
  error: Schema.Literal("invalid_redirect_uri", "invalid_client_metadata"),
  reason: Schema.String
}) {}

export class ClientUnknown extends Schema.TaggedError<ClientUnknown>()("ClientUnknown", { reason: Schema.String }) {}

export class Clients extends Context.Tag("core/Clients")<
  Clients,
  {
    /** Stores nothing: the id has what the client says of itself, sealed. */
    readonly register: (metadata: unknown) => Effect.Effect<Registered, MetadataInvalid | StoreUnavailable>
    /** May read the document of the client. */
    readonly find: (clientId: string) => Effect.Effect<Client, ClientUnknown | StoreUnavailable>
    /** Its `Client.id`, without reading a document. None for an id that is neither an address nor one of ours. */
    readonly idOf: (clientId: string) => Effect.Effect<Option.Option<string>, StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<Clients, never, GrantStore | Entropy | ClientDocuments> = Layer.effect(
    Clients,
    Effect.gen(function* () {
      const documents = yield* ClientDocuments
      const { sha256 } = yield* Entropy
      const seals = yield* makeSeals
      const cache = new Map<string, { readonly found: Either.Either<Client, ClientUnknown>; readonly until: number }>()
      const reads = new PerMinute(DOCUMENTS_PER_MINUTE)
      const slots = yield* Effect.makeSemaphore(DOCUMENTS_AT_ONCE)

      const register = Effect.fn("Clients.register")(function* (metadata: unknown) {
        const { name, redirectUris } = yield* read(metadata)
        const issuedAtSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
        const sealed = yield* seals.seal("client", JSON.stringify({ name, redirectUris, issuedAtSeconds }))
        return { clientId: `${PREFIX}${sealed}`, name, redirectUris, issuedAtSeconds }
      })

      const unsealed = (clientId: string) =>
        clientId.startsWith(PREFIX)
          ? Effect.map(seals.unseal("client", clientId.slice(PREFIX.length)), decodeClient)
          : Effect.succeedNone

      const digestOf = (clientId: string) => `registered:${sha256(clientId).slice(0, 32)}`

      const readDocument = (url: string) =>
        Effect.gen(function* () {
          const text = yield* slots.withPermits(1)(documents.read(url))
          const metadata = Option.getOrUndefined(
            Option.liftThrowable((json: string): unknown => JSON.parse(json))(text)
          )
          if (!Predicate.isRecord(metadata)) return yield* unknown("its document is not a JSON object")
          if (metadata["client_id"] !== url) return yield* unknown("client_id in its document is not this address")
          // The document is public, so that a secret in it is none.
          if (String(metadata["token_endpoint_auth_method"]).startsWith("client_secret")) {
            return yield* unknown("its document wants a client secret, which such a client cannot have")
          }
          return { id: url, kind: "document" as const, ...(yield* read(metadata)) }
        }).pipe(
          Effect.catchTags({
            DocumentUnavailable: ({ reason }) => unknown(`its document cannot be read: ${reason}`),
            MetadataInvalid: ({ reason }) => unknown(`its document cannot be used: ${reason}`)
          })
        )

      const described = (url: string) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const cached = cache.get(url)
          if (cached !== undefined && now < cached.until) return yield* cached.found
          const wait = reads.take(now)
          if (wait > 0)
            return yield* unknown(`too many documents of clients are being read, try again in ${wait} seconds`)
          const found = yield* Effect.either(readDocument(url))
          const [oldest] = cache.keys()
          if (cache.size >= CACHE_SIZE && oldest !== undefined) cache.delete(oldest)
          cache.delete(url)
          cache.set(url, { found, until: now + (Either.isRight(found) ? CACHE_MILLIS : FAILURE_MILLIS) })
          return yield* found
        })

      const find = Effect.fn("Clients.find")(function* (clientId: string) {
        const known = KNOWN_CLIENTS.find(({ id }) => id === clientId)
        if (known !== undefined) return known
        if (isAddress(clientId)) return yield* described(clientId)
        const own = Option.getOrUndefined(yield* unsealed(clientId))
        if (own === undefined)
          return yield* unknown("it is not registered here, and it is not the address of a document")
        return { id: digestOf(clientId), kind: "registered" as const, name: own.name, redirectUris: own.redirectUris }
      })

      const idOf = (clientId: string) =>
        isAddress(clientId)
          ? Effect.succeedSome(clientId)
          : Effect.map(
              unsealed(clientId),
              Option.map(() => digestOf(clientId))
            )

      return Clients.of({ register, find, idOf })
    })
  )
}

// ---- helpers ----

/** Of ids that we give out. */
const PREFIX = "ecl_"

const CACHE_MILLIS = 3_600_000
const FAILURE_MILLIS = 30_000
const CACHE_SIZE = 500
const DOCUMENTS_PER_MINUTE = 60
const DOCUMENTS_AT_ONCE = 4

/** Their documents cannot be read: the sites answer servers with 403. */
const KNOWN_CLIENTS: ReadonlyArray<Client> = [
  {
    id: "https://claude.ai/oauth/mcp-oauth-client-metadata",
    kind: "known",
    name: "Claude",
    redirectUris: ["https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"]
  },
  {
    id: "https://claude.ai/oauth/claude-code-client-metadata",
    kind: "known",
    name: "Claude Code",
    redirectUris: ["http://localhost/callback", "http://127.0.0.1/callback"]
  },
  {
    id: "https://chatgpt.com/oauth/client.json",
    kind: "known",
    name: "ChatGPT",
    redirectUris: ["https://chatgpt.com/connector_platform_oauth_redirect"]
  }
]

const decodeClient = decodeSealed(
  Schema.Struct({ name: Schema.String, redirectUris: Schema.Array(Schema.String), issuedAtSeconds: Schema.Number })
)

const unknown = (reason: string) => new ClientUnknown({ reason })

/** The address of a document: https, with a path, and written as the URL standard writes it. */
const isAddress = (clientId: string): boolean => {
  if (clientId.length > MAX_ADDRESS || !clientId.startsWith("https://") || !URL.canParse(clientId)) return false
  const { href, pathname, username, password } = new URL(clientId)
  return href === clientId && pathname !== "/" && username === "" && password === "" && !clientId.includes("#")
}

const MAX_ADDRESS = 500
const MAX_URIS = 10
/** In characters. The id of a client has all of them, and becomes part of an address. */
const MAX_ALL_URIS = 1_500
const MAX_NAME = 100

const read = (metadata: unknown): Either.Either<Pick<Client, "name" | "redirectUris">, MetadataInvalid> => {
  const invalid = (error: MetadataInvalid["error"], reason: string) =>
    Either.left(new MetadataInvalid({ error, reason }))
  if (!Predicate.isRecord(metadata)) return invalid("invalid_client_metadata", "Expected a JSON object")
  const { redirect_uris: uris, client_name: name } = metadata
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_URIS || !uris.every(Predicate.isString)) {
    return invalid("invalid_redirect_uri", `redirect_uris: expected a list of 1 to ${MAX_URIS} addresses`)
  }
  for (const [index, uri] of uris.entries()) {
    const problem = redirectProblem(uri)
    if (problem !== undefined) return invalid("invalid_redirect_uri", `redirect_uris.${index} ${problem}`)
  }
  if (uris.join("").length > MAX_ALL_URIS) {
    return invalid("invalid_redirect_uri", `redirect_uris are longer than ${MAX_ALL_URIS} characters together`)
  }
  if (name !== undefined && !Predicate.isString(name)) {
    return invalid("invalid_client_metadata", "client_name: expected a string")
  }
  const [first = ""] = uris
  return Either.right({ name: visibleName(name ?? "") || redirectHost(first), redirectUris: uris })
}

/** Without characters that hide or reorder others. */
const visibleName = (name: string): string =>
  name
    .toWellFormed()
    .replace(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu, "")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_NAME)
    .toWellFormed()
