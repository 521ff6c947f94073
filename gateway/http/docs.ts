/** `/docs`: shows the OpenAPI document in the browser. The page loads nothing from other origins. */
import { Effect } from "effect"
import type { OpenRoute, Reply } from "./route.ts"

/** `script` loads Scalar's browser build. */
export const docsRoutes = (script: Effect.Effect<Uint8Array<ArrayBuffer>>): ReadonlyArray<OpenRoute<never>> => [
  { method: "GET", path: "/docs", reply: () => Effect.succeed(page) },
  {
    method: "GET",
    path: SCRIPT_PATH,
    reply: () =>
      Effect.map(script, (body) => ({
        status: 200,
        headers: { "content-type": "text/javascript; charset=utf-8", "cache-control": "public, max-age=3600" },
        body
      }))
  }
]

// ---- helpers ----

const SCRIPT_PATH = "/docs/scalar.js"

/**
 * The script needs inline styles and `eval`. So the page has an origin of its own (`sandbox` without `allow-same-origin`):
 * it cannot read what the console stores, such as the key, or call the API as the console.
 */
const POLICY =
  "sandbox allow-scripts allow-popups; default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; frame-ancestors 'none'"

const page: Reply = {
  status: 200,
  headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": POLICY },
  body: `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Earshot API</title>
    <link rel="icon" href="data:," />
  </head>
  <body>
    <div id="app"></div>
    <script>
      // The script expects storage, which a sandboxed page does not have.
      for (const name of ["localStorage", "sessionStorage"]) {
        const items = new Map()
        const value = {
          getItem: (key) => items.get(String(key)) ?? null,
          setItem: (key, item) => void items.set(String(key), String(item)),
          removeItem: (key) => void items.delete(String(key)),
          clear: () => items.clear(),
          key: (index) => [...items.keys()][index] ?? null,
          get length() {
            return items.size
          }
        }
        Object.defineProperty(window, name, { value })
      }
    </script>
    <script src="${SCRIPT_PATH}"></script>
    <script>
      Scalar.createApiReference("#app", {
        url: "/openapi.json",
        withDefaultFonts: false,
        telemetry: false,
        hideClientButton: true,
        showDeveloperTools: "never",
        agent: { disabled: true },
        mcp: { disabled: true },
        defaultOpenAllTags: true
      })
    </script>
  </body>
</html>
`
}
