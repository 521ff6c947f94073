/** Why nothing came of a request, in words. */

/** The code of the operating system is below the error that `fetch` gives, on Node; on Deno it is in the words. */
export const reasonOf = (cause: unknown): string => {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const code = inner instanceof Error && "code" in inner ? String(inner.code) : ""
  const words = inner instanceof Error ? inner.message : String(inner)
  const known = REASONS.find(([pattern]) => pattern.test(`${code} ${words}`))
  return known?.[1] ?? (code === "" ? words : code)
}

export const NOTHING_LISTENS = "nothing listens there"

// ---- helpers ----

const REASONS: ReadonlyArray<readonly [RegExp, string]> = [
  [/ECONNREFUSED|connection refused/i, NOTHING_LISTENS],
  [/ENOTFOUND|EAI_AGAIN|lookup address|dns error/i, "its name is not known"],
  [/ECONNRESET|EPIPE|UND_ERR_SOCKET|other side closed|terminated|connection (closed|reset)/i, "the connection was cut"],
  [/ETIMEDOUT|UND_ERR_\w*TIMEOUT|timed out/i, "it did not answer in time"],
  [/EHOSTUNREACH|ENETUNREACH/i, "there is no way to it from here"],
  [/certificate|CERT|UNABLE_TO_(GET|VERIFY)/, "its certificate is not trusted, or not for this name"],
  [/EPROTO|ERR_SSL|wrong version number/i, "it does not speak TLS"],
  [/HPE_HEADER_OVERFLOW/, "its headers are too large"],
  [/HPE_/, "it does not speak HTTP"]
]
