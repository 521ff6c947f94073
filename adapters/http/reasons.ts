/** Describes why a request failed. */

/** On Node the OS error code is on the `cause` of the error from `fetch`; on Deno it is in the message. */
export const reasonOf = (cause: unknown): string => {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const code = inner instanceof Error && "code" in inner ? String(inner.code) : ""
  const message = inner instanceof Error ? inner.message : String(inner)
  const known = reasons.find(([pattern]) => pattern.test(`${code} ${message}`))
  return known?.[1] ?? (code === "" ? message : code)
}

export const CONNECTION_REFUSED = "connection refused"

/** Of a connection that was never open. Names the host, because the address is a setting. */
export const noConnection = (baseUrl: string, reason: string): string => {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl
  return `No connection to ${host}: ${reason}${OFFLINE.has(reason) ? ", or this server has no network" : ""}`
}

// ---- helpers ----

const UNKNOWN_HOST = "its host name is unknown"
const UNREACHABLE_HOST = "its host is unreachable"

/** They are the same if nothing can be reached. */
const OFFLINE: ReadonlySet<string> = new Set([UNKNOWN_HOST, UNREACHABLE_HOST])

const reasons: ReadonlyArray<readonly [RegExp, string]> = [
  [/ECONNREFUSED|connection refused/i, CONNECTION_REFUSED],
  [/ENOTFOUND|EAI_AGAIN|lookup address|dns error/i, UNKNOWN_HOST],
  [/ECONNRESET|EPIPE|UND_ERR_SOCKET|other side closed|terminated|connection (closed|reset)/i, "the connection was cut"],
  [/ETIMEDOUT|UND_ERR_\w*TIMEOUT|timed out/i, "it did not answer in time"],
  [/EHOSTUNREACH|ENETUNREACH/i, UNREACHABLE_HOST],
  [/certificate|CERT|UNABLE_TO_(GET|VERIFY)/, "its certificate is not trusted, or not for this name"],
  [/EPROTO|ERR_SSL|wrong version number/i, "it does not speak TLS"],
  [/HPE_HEADER_OVERFLOW/, "its headers are too large"],
  [/HPE_/, "it does not speak HTTP"]
]
