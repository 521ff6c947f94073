/** Connects to an address that an account names: by a checked IP address, never by name, to prevent DNS rebinding. */
import { isIP, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { Data, Effect, Option, type Scope } from "effect"
import type { Trouble } from "../../core/webhooks/WebhookSender.ts"
import type { Addresses } from "./addresses.ts"
import { Resolver } from "./Resolver.ts"
import { reasonOf } from "./reasons.ts"
import { Tcp } from "./Tcp.ts"

/** Nothing was sent. */
export class NotConnected extends Data.TaggedError("NotConnected")<{
  readonly reason: string
  readonly trouble: Trouble
}> {}

/** Per address. */
const CONNECT_TIMEOUT = "5 seconds"

/** The reason why the host is refused, if its text alone decides it. No DNS lookup. */
export const literalRefusal = (addresses: Addresses, url: URL, isSecure: boolean): Option.Option<string> => {
  const host = hostOf(url.hostname)
  const isLocal = /(^|\.)localhost$/.test(host)
  const address = isLocal ? "127.0.0.1" : host
  if (isSecure && isIP(address) !== 0 && isOpen(url) && !addresses.isNamed(address)) return Option.some(ONLY_HTTPS)
  if (isIP(host) !== 0) return addresses.refusal(host)
  return Option.as(isLocal ? addresses.refusal(address) : Option.none(), refusedName(host, addresses))
}

/** The socket is closed with the scope. `isSecure`: http only to addresses that the operator allows. */
export const connect = (
  url: URL,
  addresses: Addresses,
  isSecure: boolean
): Effect.Effect<Socket, NotConnected, Scope.Scope> =>
  Effect.gen(function* () {
    const host = hostOf(url.hostname)
    const found = isIP(host) === 0 ? yield* addressesOf(host) : [host]
    // One refused address refuses the name.
    const refused = Option.firstSomeOf(found.map((address) => addresses.refusal(address)))
    if (Option.isSome(refused)) return yield* notAllowed(host, refused.value, addresses)
    if (isSecure && isOpen(url) && !found.every((address) => addresses.isNamed(address))) {
      return yield* new NotConnected({ reason: ONLY_HTTPS, trouble: "not_allowed" })
    }
    const port = url.port === "" ? (isOpen(url) ? 80 : 443) : Number(url.port)
    const open = (address: string) => openTcp({ host, address, port, addresses })
    const socket = yield* Effect.firstSuccessOf(found.map(open))
    return isOpen(url) ? socket : yield* secure(socket, host)
  })

// ---- helpers ----

const isOpen = ({ protocol }: URL): boolean => protocol !== "https:"

const ONLY_HTTPS = "Not allowed: subscriptions need https, except for addresses that the operator allows"

/** Without the brackets of an IPv6 address or the final dot of a name. */
const hostOf = (hostname: string): string => hostname.replace(/^\[|\]$|\.$/g, "")

const addressesOf = (name: string) =>
  Effect.gen(function* () {
    const resolver = yield* Resolver
    const found = yield* Effect.tryPromise({
      try: () => resolver.addressesOf(name),
      catch: (cause) =>
        new NotConnected({ reason: `Cannot be reached: ${reasonOf(cause)}`, trouble: "connection_refused" })
    })
    return found.length > 0
      ? found
      : yield* new NotConnected({ reason: "Cannot be reached: its name has no address", trouble: "connection_refused" })
  })

/** The name, never the address behind it: a caller must not learn addresses of the operator's network. */
const refusedName = (name: string, { onlyPublic }: Addresses): string =>
  `"${name}" has an address that is not public, ${onlyPublic}`

/** Only the log, at debug level, has the address behind a name. */
const notAllowed = (host: string, refusal: string, addresses: Addresses) =>
  Effect.zipRight(
    Effect.logDebug(`A call to "${host}" is not allowed: ${refusal}`),
    new NotConnected({
      reason: `Not allowed: ${isIP(host) === 0 ? refusedName(host, addresses) : refusal}`,
      trouble: "not_allowed"
    })
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
  Effect.flatMap(Tcp, (tcp) => once(() => tcp.connect({ host: address, port }), "connect")).pipe(
    Effect.timeoutFail({
      duration: CONNECT_TIMEOUT,
      onTimeout: () => new NotConnected({ reason: "Cannot be reached: it did not answer in time", trouble: "timeout" })
    }),
    // Check the actual peer before anything is sent.
    Effect.filterOrElse(
      (socket) => Option.isNone(addresses.refusal(socket.remoteAddress ?? "")),
      ({ remoteAddress }) => notAllowed(host, `connected to "${remoteAddress ?? "nowhere"}"`, addresses)
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
      const trouble = event === "connect" ? "connection_refused" : "tls_error"
      const fail = (cause: unknown) =>
        resume(new NotConnected({ reason: `Cannot be reached: ${reasonOf(cause)}`, trouble }))
      socket.once(event, () => resume(Effect.succeed(socket)))
      socket.once("error", fail)
      socket.once("close", () => fail("the connection was cut"))
    })
  })
