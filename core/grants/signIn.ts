/** Whether clients can sign in with OAuth, and as what the server then presents itself. */
import { Either, Option } from "effect"
import { type Issuer, issuerAt } from "./Grants.ts"

/** `publicUrl` is an origin. Left: why they cannot. */
export const signInAt = (publicUrl: Option.Option<string>, hasConsole: boolean): Either.Either<Issuer, string> => {
  if (Option.isNone(publicUrl)) return Either.left("EARSHOT_PUBLIC_URL is not set")
  const { protocol, hostname } = new URL(publicUrl.value)
  if (protocol !== "https:" && !isLoopback(hostname)) {
    return Either.left("EARSHOT_PUBLIC_URL must begin with https://, because tokens would travel in plain text")
  }
  return hasConsole
    ? Either.right(issuerAt(publicUrl.value))
    : Either.left("the console, in which people allow access, is off (EARSHOT_CONSOLE)")
}

// ---- helpers ----

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.[\d.]+$/.test(hostname)
