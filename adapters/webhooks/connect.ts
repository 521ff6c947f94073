/** Connections to receivers: to an address that was checked, and never to the name itself. */
import { connect as connectTcp, isIP, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { Data, Effect, Option, type Scope } from "effect"
import { reasonOf } from "../http/reasons.ts"
import type { Addresses } from "./addresses.ts"
import { Resolver } from "./Resolver.ts"

/** Nothing was sent: why, in words. */
export class NotConnected extends Data.TaggedError("NotConnected")<{ readonly reason: string }> {}

/** How long one address may take. */
const PATIENCE = "5 seconds"

/** Why nothing will be sent to that host, as far as its name says. */
export const literalRefusal = (addresses: Addresses, { hostname }: URL): Option.Option<string> => {
  const host = hostOf(hostname)
  if (/(^|\.)localhost$/.test(host)) return addresses.refusal("127.0.0.1")
  return isIP(host) === 0 ? Option.none() : addresses.refusal(host)
}

/** Lasts as long as the scope is open. */
export const connect = (url: URL, addresses: Addresses): Effect.Effect<Socket, NotConnected, Scope.Scope> =>
  Effect.gen(function* () {
    const host = hostOf(url.hostname)
    const found = isIP(host) === 0 ? yield* addressesOf(host) : [host]
    // All of them: a name that is public at one time and private at another is no name to send to.
    const refused = Option.firstSomeOf(found.map((address) => addresses.refusal(address)))
    if (Option.isSome(refused)) return yield* new NotConnected({ reason: `Not allowed: ${refused.value}` })
    const isSecure = url.protocol === "https:"
    const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port)
    const open = (address: string) => openTcp({ host: address, port, addresses })
    const socket = yield* Effect.firstSuccessOf(found.map(open))
    return isSecure ? yield* secure(socket, host) : socket
  })

// ---- helpers ----

/** Without the brackets of an IPv6 address, and without the dot that may end a name. */
const hostOf = (hostname: string): string => hostname.replace(/^\[|\]$|\.$/g, "")

const addressesOf = (name: string) =>
  Effect.gen(function* () {
    const resolver = yield* Resolver
    const found = yield* Effect.tryPromise({
      try: () => resolver.addressesOf(name),
      catch: (cause) => new NotConnected({ reason: `Cannot be reached: ${reasonOf(cause)}` })
    })
    return found.length > 0 ? found : yield* new NotConnected({ reason: "Cannot be reached: its name has no address" })
  })

const openTcp = ({
  host,
  port,
  addresses
}: {
  readonly host: string
  readonly port: number
  readonly addresses: Addresses
}) =>
  once(() => connectTcp({ host, port }), "connect").pipe(
    Effect.timeoutFail({
      duration: PATIENCE,
      onTimeout: () => new NotConnected({ reason: "Cannot be reached: it did not answer in time" })
    }),
    // Nothing has been sent yet: what counts is where the connection really leads.
    Effect.filterOrElse(
      (socket) => Option.isNone(addresses.refusal(socket.remoteAddress ?? "")),
      ({ remoteAddress }) => new NotConnected({ reason: `Not allowed: it leads to "${remoteAddress ?? "nowhere"}"` })
    )
  )

const secure = (socket: Socket, host: string) =>
  once(
    // `host` is what the certificate has to be for; a name is also what is asked for.
    () => connectTls({ socket, host, ...(isIP(host) === 0 && { servername: host }) }),
    "secureConnect"
  )

/** A socket once it is ready. */
const once = (
  open: () => Socket,
  event: "connect" | "secureConnect"
): Effect.Effect<Socket, NotConnected, Scope.Scope> =>
  Effect.gen(function* () {
    const socket = yield* Effect.acquireRelease(Effect.sync(open), (socket) =>
      Effect.sync(() => {
        socket.destroy()
      })
    )
    // For as long as it lives: an error without anyone who listens would be the end of the process.
    socket.on("error", () => {})
    return yield* Effect.async<Socket, NotConnected>((resume) => {
      const fail = (cause: unknown) => resume(new NotConnected({ reason: `Cannot be reached: ${reasonOf(cause)}` }))
      socket.once(event, () => resume(Effect.succeed(socket)))
      socket.once("error", fail)
      socket.once("close", () => fail("the connection was cut"))
    })
  })
