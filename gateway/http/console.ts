/** `/console`: the files of the web console. No key is needed: the page asks for one and sends it with its calls. */
import { Effect } from "effect"
import { type DoorFailure, methodNotAllowed, noSuchPath, RequestError } from "../errors.ts"
import { pathOf } from "./handler.ts"
import type { Mount, Reply } from "./route.ts"

/** By path, such as `assets/main-ABCD1234.js`. Compressed forms have `.br` or `.gz` at the end. */
export type ConsoleFiles = ReadonlyMap<string, Effect.Effect<Uint8Array<ArrayBuffer>>>

export const CONSOLE_PATH = "/console"

/** Whether there is a page to show. */
export const isBuilt = (files: ConsoleFiles): boolean => files.has(PAGE)

export const consoleMount = (files: ConsoleFiles): Mount<never> => ({
  prefix: CONSOLE_PATH,
  handle: (request) => {
    const path = pathOf(request.url)
    if (path !== CONSOLE_PATH && !path.startsWith(FOLDER)) return noSuchPath(path)
    if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed(request.method, path, ["GET"])
    if (!isBuilt(files)) return notBuilt
    const name = nameOf(path.slice(FOLDER.length))
    const type = contentTypes[name.slice(name.lastIndexOf(".") + 1)]
    if (type === undefined || !files.has(name)) return noSuchPath(path)
    return reply(files, { name, type, request })
  }
})

// ---- helpers ----

const FOLDER = `${CONSOLE_PATH}/`

const PAGE = "index.html"

/** Their names contain a hash of the content. */
const ASSETS = "assets/"

/** Other types are not served, which includes the compressed forms. */
const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  ico: "image/x-icon",
  woff2: "font/woff2"
}

/** In order of preference. */
const encodings = [
  { encoding: "br", extension: ".br" },
  { encoding: "gzip", extension: ".gz" }
] as const

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  // For browsers that do not know frame-ancestors.
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  vary: "Accept-Encoding"
}

const notBuilt = new RequestError({
  status: 404,
  code: "not_found",
  message: 'The console is not built: run "npm run build" and start the server again',
  details: {}
})

/** The page has routes of its own: every path without a file extension shows it. */
const nameOf = (path: string): string => (path.startsWith(ASSETS) || /\.[^/]*$/.test(path) ? path : PAGE)

interface Wanted {
  readonly name: string
  readonly type: string
  readonly request: Request
}

const reply = (files: ConsoleFiles, { name, type, request }: Wanted): Effect.Effect<Reply, DoorFailure> =>
  Effect.gen(function* () {
    const accepted = acceptedEncodings(request)
    const compressed = encodings.find(
      ({ encoding, extension }) => accepted.has(encoding) && files.has(name + extension)
    )
    const file = files.get(name + (compressed?.extension ?? ""))
    if (file === undefined) return yield* noSuchPath(name)
    const body = yield* file
    const headers = {
      ...HEADERS,
      "content-type": type,
      "content-length": String(body.length),
      ...(compressed !== undefined && { "content-encoding": compressed.encoding })
    }
    if (name.startsWith(ASSETS)) {
      return { status: 200, headers: { ...headers, "cache-control": "public, max-age=31536000, immutable" }, body }
    }
    const etag = yield* etagOf(body)
    const fresh = { ...HEADERS, "cache-control": "no-cache", etag }
    return knows(request, etag)
      ? { status: 304, headers: fresh, body: null }
      : { status: 200, headers: { ...headers, ...fresh }, body }
  })

const acceptedEncodings = (request: Request): ReadonlySet<string> => {
  const given = (request.headers.get("accept-encoding") ?? "").toLowerCase().split(",")
  return new Set(given.filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part)).map((part) => part.replace(/;.*/, "").trim()))
}

/** Of the bytes that are sent: each encoding has its own. */
const etagOf = (body: Uint8Array<ArrayBuffer>): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", body)),
    (digest) => `"${[...new Uint8Array(digest, 0, 12)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}"`
  )

const knows = (request: Request, etag: string): boolean =>
  (request.headers.get("if-none-match") ?? "").split(",").some((known) => known.trim().replace(/^W\//, "") === etag)
