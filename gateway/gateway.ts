/** Builds the handler of all interfaces. */
import { Effect, Either, Option } from "effect"
import { type PlatformSchemas, platformSchemas } from "../api/platformSchemas.ts"
import type { Clients } from "../core/grants/Clients.ts"
import type { Language } from "../core/languages/Language.ts"
import { Entropy } from "../core/model/Entropy.ts"
import type { LocalFeed } from "../core/platforms/LocalFeed.ts"
import { Platforms } from "../core/platforms/Platform.ts"
import { consoleMount, isBuilt } from "./http/console.ts"
import { type DocsPage, docsRoute } from "./http/docs.ts"
import type { Files } from "./http/files.ts"
import { type Handler, makeHandler } from "./http/handler.ts"
import { healthRoutes } from "./http/health.ts"
import { liveRoute } from "./http/live.ts"
import { localRoutes } from "./http/local.ts"
import { metricsRoute } from "./http/metrics.ts"
import { redactRefusal } from "./http/redact.ts"
import { restRoutes } from "./http/rest.ts"
import { json, type KeyedRoute, type Mount, type OpenRoute, type Route } from "./http/route.ts"
import { serverInfoRoute } from "./http/serverInfo.ts"
import type { HttpOptions, Reader } from "./mcp/http.ts"
import { newSecret } from "./mcp/untrusted.ts"
import { challengeOf, oauthRoutes, type SignIn } from "./oauth/routes.ts"
import type { Services } from "./operations/Handlers.ts"

export type DoorServices = Services | LocalFeed | Clients

export interface GatewayOptions {
  /** The address that the server listens on, if it listens on one. */
  readonly host: Option.Option<string>
  /** The web console. None if it is off. */
  readonly console: Option.Option<Files>
  /** Updates the metrics of the process. */
  readonly observeProcess: Effect.Effect<void>
  readonly version: string
  /** Sign-in with OAuth. By default it is off. */
  readonly signIn?: SignIn
}

export const gateway = (options: GatewayOptions): Effect.Effect<Handler, never, DoorServices | Entropy> =>
  Effect.gen(function* () {
    const { host, version, signIn = Either.left("EARSHOT_PUBLIC_URL is not set") } = options
    const platforms = yield* Platforms
    const languages = (yield* platforms.all).map(({ language }) => language)
    const schemas = platformSchemas(languages)
    const keyed = [...restRoutes(schemas), liveRoute(schemas), ...localRoutes]
    const document = yield* Effect.cached(openApiDocument(languages))
    const routes: ReadonlyArray<Route<DoorServices>> = [
      serverInfoRoute({ version, hasConsole: Option.exists(options.console, isBuilt) }),
      ...keyed,
      redactRefusal,
      ...healthRoutes,
      metricsRoute(options.observeProcess),
      ...oauthRoutes(signIn),
      mcpRoute({ host, version, newSecret: newSecret(yield* Entropy), languages, signIn }),
      openApiRoute(document),
      yield* docsRoute(docsPage(document, keyed))
    ]
    return yield* makeHandler<DoorServices>(routes, [
      yield* trpcMount(schemas, (yield* Entropy).uuid),
      ...Option.toArray(Option.map(options.console, consoleMount))
    ])
  })

// ---- helpers ----

// These interfaces need large libraries, which are loaded on their first request.

const trpcMount = (schemas: PlatformSchemas, newSecret: () => string): Effect.Effect<Mount<Services>> =>
  Effect.gen(function* () {
    const loaded = yield* Effect.cached(
      Effect.promise(async () => {
        const [{ handleTrpc }, { makeRouter }] = await Promise.all([
          import("./trpc/requests.ts"),
          import("./trpc/router.ts")
        ])
        return { handleTrpc, router: makeRouter(schemas) }
      })
    )
    return {
      prefix: "/trpc/",
      handle: (request) => Effect.flatMap(loaded, ({ handleTrpc, router }) => handleTrpc(router, request, newSecret))
    }
  })

/** POST only: without sessions, GET and DELETE have no use. */
const mcpRoute = (options: HttpOptions): KeyedRoute<Services> => {
  let reader: Promise<Reader> | undefined
  return {
    method: "POST",
    path: "/mcp",
    // Each tool checks the scope that it needs.
    scope: "read",
    errorHeaders: challengeOf(options.signIn),
    read: async (request) => {
      reader ??= import("./mcp/http.ts").then(({ makeReader }) => makeReader(options))
      return (await reader)(request)
    }
  }
}

const openApiDocument = (languages: ReadonlyArray<Language>): Effect.Effect<object> =>
  Effect.promise(async () => (await import("./openapi/document.ts")).openApiDocument(languages))

// Tools on other origins may read it.
const OPENAPI_HEADERS = { "content-type": "application/json", "access-control-allow-origin": "*" }

const openApiRoute = (document: Effect.Effect<object>): OpenRoute<never> => {
  const reply = (content: unknown) => ({ ...json(200, content), headers: OPENAPI_HEADERS })
  return { method: "GET", path: "/openapi.json", reply: () => Effect.map(document, reply) }
}

const docsPage = (
  document: Effect.Effect<object>,
  keyed: ReadonlyArray<Pick<KeyedRoute<never>, "method" | "path" | "scope">>
): Effect.Effect<DocsPage> =>
  Effect.gen(function* () {
    const { page } = yield* Effect.promise(() => import("./openapi/page.ts"))
    const scopes = new Map(keyed.map(({ method, path, scope }) => [`${method} ${path}`, scope]))
    return yield* page(yield* document, scopes)
  })
