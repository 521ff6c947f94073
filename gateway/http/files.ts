/** Files that browsers show: compressed as the client accepts it, isolated from other pages. */
import { Effect } from "effect"
import { type DoorFailure, noSuchPath } from "../errors.ts"
import { pathOf } from "./handler.ts"
import type { Reply } from "./route.ts"

/** By path, such as `assets/main-ABCD1234.js`. Compressed forms have `.br` or `.gz` at the end. */
export type Files = ReadonlyMap<string, Effect.Effect<Uint8Array<ArrayBuffer>>>

export interface Wanted {
  readonly name: string
  readonly type: string
  /** The content security policy. */
  readonly policy: string
  readonly request: Request
  /** The name contains a hash of the content. */
  readonly isImmutable?: boolean
}

export const fileReply = (files: Files, wanted: Wanted): Effect.Effect<Reply, DoorFailure> =>
  Effect.gen(function* () {
    const { name, type, policy, request, isImmutable = false } = wanted
    const accepted = acceptedEncodings(request)
    const compressed = encodings.find(
      ({ encoding, extension }) => accepted.has(encoding) && files.has(name + extension)
    )
    const file = files.get(name + (compressed?.extension ?? ""))
    if (file === undefined) return yield* noSuchPath(pathOf(request.url))
    const body = yield* file
    const isolated = { "content-security-policy": policy, ...HEADERS }
    const headers = {
      ...isolated,
      "content-type": type,
      "content-length": String(body.length),
      ...(compressed !== undefined && { "content-encoding": compressed.encoding })
    }
    if (isImmutable) {
      return { status: 200, headers: { ...headers, "cache-control": "public, max-age=31536000, immutable" }, body }
    }
    const etag = yield* etagOf(body)
    const fresh = { ...isolated, "cache-control": "no-cache", etag }
    return knows(request, etag)
      ? { status: 304, headers: fresh, body: null }
      : { status: 200, headers: { ...headers, ...fresh }, body }
  })

// ---- helpers ----

/** In order of preference. */
const encodings = [
  { encoding: "br", extension: ".br" },
  { encoding: "gzip", extension: ".gz" }
] as const

const HEADERS = {
  // For browsers that do not know frame-ancestors.
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  vary: "Accept-Encoding"
}

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
