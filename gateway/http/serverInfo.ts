/** `GET /`: the name and version of the server, with links; a browser is sent to the console. No key is needed. */
import { Effect } from "effect"
import { CONSOLE_PATH } from "./console.ts"
import { json, type OpenRoute, type Reply } from "./route.ts"

export const serverInfoRoute = ({
  version,
  hasConsole
}: {
  readonly version: string
  readonly hasConsole: boolean
}): OpenRoute<never> => {
  const info = json(200, {
    name: "Earshot",
    version,
    docs: "/docs",
    openapi: "/openapi.json",
    health: "/health/ready",
    metrics: "/metrics",
    ...(hasConsole && { console: CONSOLE_PATH })
  })
  const reply = hasConsole ? { ...info, headers: { ...info.headers, ...VARY } } : info
  return {
    method: "GET",
    path: "/",
    reply: (request) => Effect.succeed(hasConsole && isBrowser(request) ? TO_CONSOLE : reply)
  }
}

// ---- helpers ----

const VARY = { vary: "Accept" }

const TO_CONSOLE: Reply = { status: 302, headers: { location: CONSOLE_PATH, ...VARY }, body: null }

const isBrowser = (request: Request): boolean => /\btext\/html\b/i.test(request.headers.get("accept") ?? "")
