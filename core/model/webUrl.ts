/** The schema of a URL that the server calls for an account. */
import { Schema } from "effect"
import { truncated } from "../text/truncated.ts"

/** `who` calls it, for messages: "webhooks". `credentials`: what to do about a password in it. */
export const webUrl = ({
  example,
  who,
  credentials,
  description,
  hasFragment
}: {
  readonly example: string
  readonly who: string
  readonly credentials: string
  readonly description: string
  readonly hasFragment: boolean
}) =>
  Schema.String.pipe(
    Schema.filter(
      (text) =>
        text.length <= MAX_URL_LENGTH || `Is too long: ${text.length} characters, at most ${MAX_URL_LENGTH} are allowed`
    ),
    Schema.filter((text) => isWebUrl(text) || describeNotWebUrl(text, example, who)),
    Schema.filter(
      (text) =>
        isAllowedPort(text) ||
        `Has the port ${new URL(text).port}, which ${who} may not use: they may use ${ALLOWED_PORTS}`
    ),
    Schema.filter((text) => !hasCredentials(text) || `Contains a user name or password: ${credentials}`),
    Schema.filter(
      (text) => hasFragment || !text.includes("#") || 'Has a fragment ("#…"), which HTTP does not send: remove it'
    )
  ).annotations({
    jsonSchema: {
      type: "string",
      format: "uri",
      maxLength: MAX_URL_LENGTH,
      description: `${description}. Ports: ${ALLOWED_PORTS}`
    }
  })

export const MAX_URL_LENGTH = 2_000

/** Calls must not reach services that are not for HTTP. One that is stored already keeps its port. */
export function isAllowedPort(text: string): boolean {
  const { port } = new URL(text)
  return port === "" || port === "80" || port === "443" || (Number(port) >= 1_024 && !servicePorts.has(Number(port)))
}

// ---- helpers ----

const ALLOWED_PORTS = "80, 443, and those from 1024 on that no other well-known service uses"

/** The ports from 1024 on that browsers block, and those of databases, queues and remote administration. */
const servicePorts: ReadonlySet<number> = new Set([
  ...[1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697],
  ...[10080, 1433, 1521, 2375, 2376, 2379, 2380, 3306, 3389, 5432, 5672, 5900, 5984, 6379, 9042, 9092, 9200, 9300],
  ...[10250, 11211, 27017, 27018, 27019]
])

function isWebUrl(text: string): boolean {
  return /^https?:\/\/[^/?#]/i.test(text) && URL.canParse(text)
}

function describeNotWebUrl(text: string, example: string, who: string): string {
  const likeThis = `Expected a URL like ${example}`
  // In "localhost:8080" the port follows, and there is no scheme.
  const scheme = /^([a-z][a-z\d+.-]*):(?!\d)/i.exec(text)?.[1]
  if (scheme !== undefined && !/^https?$/i.test(scheme)) {
    return `${likeThis}, got the scheme "${truncated(scheme, MAX_SCHEME)}": only https and http are allowed`
  }
  if (/^https?:\/\/([/?#:]|$)/i.test(text)) return `${likeThis}, got no host`
  const port = /^https?:\/\/[^/?#]*:(\d+)([/?#]|$)/i.exec(text)?.[1]
  if (port !== undefined && Number(port) > MAX_PORT) {
    return `${likeThis}, got the port ${truncated(port, MAX_SCHEME)}, above ${MAX_PORT}: ${who} may use ${ALLOWED_PORTS}`
  }
  return `${likeThis}, which starts with https:// or http:// and a host`
}

const MAX_PORT = 65_535

/** In characters of a message. */
const MAX_SCHEME = 20

function hasCredentials(text: string): boolean {
  const { username, password } = new URL(text)
  return username !== "" || password !== ""
}
