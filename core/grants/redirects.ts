/** Redirect URIs: which ones a client may have, and whether a request names one of them. */

/** Longer ones are refused. */
export const MAX_REDIRECT = 500

/** The reason why no client may have it; undefined if it may. */
export const redirectProblem = (uri: string): string | undefined => {
  if (uri.length > MAX_REDIRECT) return `is longer than ${MAX_REDIRECT} characters`
  // URL parsers skip or change other characters: what is compared must be what the browser opens.
  if (!/^[!-~]+$/.test(uri) || /[\\"<>^`{|}]/.test(uri)) return "has characters that are not allowed in a URI"
  if (uri.includes("#")) return "has a fragment"
  if (!URL.canParse(uri)) return "is not an absolute URI"
  const { protocol, username, password, host } = new URL(uri)
  if (username !== "" || password !== "") return "has a user name or password"
  if (protocol === "https:") return /^https:\/\/[^/]/.test(uri) ? undefined : "is not written as https://host/path"
  if (protocol === "http:") return loopback.test(uri) ? undefined : "must use https, unless it is on localhost"
  return isApp(protocol) && host !== "" ? undefined : `has the scheme "${protocol.slice(0, 30)}", which is not allowed`
}

/** Exactly equal. On this computer the port may differ: a program listens on a free one (RFC 8252, section 7.3). */
export const isRedirectOf = (uris: ReadonlyArray<string>, uri: string): boolean =>
  redirectProblem(uri) === undefined && uris.some((own) => own === uri || withoutPort(own) === withoutPort(uri))

/** It leads to a program on the computer of the browser. */
export const isLocal = (uri: string): boolean => !uri.startsWith("https:")

/** For people: with the port, or the name of an app. */
export const redirectHost = (uri: string): string => {
  const { protocol, host } = new URL(uri)
  return isApp(protocol) ? `${protocol}//${host}` : host
}

/** The address with more parameters. */
export const withParameters = (uri: string, parameters: Readonly<Record<string, string>>): string =>
  `${uri}${uri.includes("?") ? "&" : "?"}${new URLSearchParams(parameters)}`

// ---- helpers ----

const loopback = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?((?:[/?].*)?)$/

/** Undefined of all others, which then differ. */
const withoutPort = (uri: string): string | number => {
  const [, host, rest] = loopback.exec(uri) ?? []
  return host === undefined ? Number.NaN : `${host}${rest}`
}

/** Editors whose scheme is not a reversed domain name, as RFC 8252 wants it. */
const APPS = ["cursor:", "vscode:", "vscode-insiders:"]

/** Browsers run or open none of these themselves. */
const isApp = (protocol: string): boolean => APPS.includes(protocol) || /^[a-z][a-z\d-]*(\.[a-z\d-]+)+:$/.test(protocol)
