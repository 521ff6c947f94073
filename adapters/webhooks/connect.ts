/** Connects to a webhook receiver by a checked IP address, never by name, to prevent DNS rebinding. */
import { connect as connectTcp, isIP, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { Data, Effect, Option, type Scope } from "effect"
import { reasonOf } from "../http/reasons.ts"
import { type Addresses, ONLY_PUBLIC } from "./addresses.ts"
import { Resolver } from "./Resolver.ts"

/** Nothing was sent. */
export class NotConnected extends Data.TaggedError("NotConnected")<{ readonly reason: string }> {}

/** Per address. */
const CONNECT_TIMEOUT = "5 seconds"

/** The reason why the host is refused, if its text alone decides it. No DNS lookup. */
export const literalRefusal = (addresses: Addresses, { hostname }: URL): Option.Option<string> => {
  const host = hostOf(hostname)
  if (isIP(host) !== 0) return addresses.refusal(host)
  const refused = /(^|\.)localhost$/.test(host) ? addresses.refusal("127.0.0.1") : Option.none()
  return Option.as(refused, refusedName(host))
}

/** The socket is closed with the scope. */
export const connect = (url: URL, addresses: Addresses): Effect.Effect<Socket, NotConnected, Scope.Scope> =>
  Effect.gen(function* () {
    const host = hostOf(url.hostname)
    const found = isIP(host) === 0 ? yield* addressesOf(host) : [host]
    // One refused address refuses the name.
    const refused = Option.firstSomeOf(found.map((address) => addresses.refusal(address)))
    if (Option.isSome(refused)) return yield* notAllowed(host, refused.value)
    const isSecure = url.protocol === "https:"
    const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port)
    const open = (address: string) => openTcp({ host, address, port, addresses })
    const socket = yield* Effect.firstSuccessOf(found.map(open))
    return isSecure ? yield* secure(socket, host) : socket
  })

// ---- helpers ----

/** Without the brackets of an IPv6 address or the final dot of a name. */
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

/** The name, never the address behind it: a caller must not learn addresses of the operator's network. */
const refusedName = (name: string): string => `"${name}" has an address that is not public, ${ONLY_PUBLIC}`

/** Only the log, at debug level, has the address behind a name. */
const notAllowed = (host: string, refusal: string) =>
  Effect.zipRight(
    Effect.logDebug(`A webhook to "${host}" is not allowed: ${refusal}`),
    new NotConnected({ reason: `Not allowed: ${isIP(host) === 0 ? refusedName(host) : refusal}` })
  )

const openTcp = ({
  host,
  address,
  port,
  addresses
}: {
  readonly host: string
  readonly address: string
  readonly port: number
  readonly addresses: Addresses
}) =>
  once(() => connectTcp({ host: address, port }), "connect").pipe(
    Effect.timeoutFail({
      duration: CONNECT_TIMEOUT,
      onTimeout: () => new NotConnected({ reason: "Cannot be reached: it did not answer in time" })
    }),
    // Check the actual peer before anything is sent.
    Effect.filterOrElse(
      (socket) => Option.isNone(addresses.refusal(socket.remoteAddress ?? "")),
      ({ remoteAddress }) => notAllowed(host, `connected to "${remoteAddress ?? "nowhere"}"`)
    )
  )

const secure = (socket: Socket, host: string) =>
  once(
    // The certificate must match `host`. SNI takes names only.
    () => connectTls({ socket, host, ...(isIP(host) === 0 && { servername: host }) }),
    "secureConnect"
  )

/** Opens a socket and waits for the event. */
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
    // For the socket's whole life: an error without a listener would end the process.
    socket.on("error", () => {})
    return yield* Effect.async<Socket, NotConnected>((resume) => {
      const fail = (cause: unknown) => resume(new NotConnected({ reason: `Cannot be reached: ${reasonOf(cause)}` }))
      socket.once(event, () => resume(Effect.succeed(socket)))
      socket.once("error", fail)
      socket.once("close", () => fail("the connection was cut"))
    })
  })
