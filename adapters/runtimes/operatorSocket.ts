/**
 * HTTP on a socket in the data folder, by which commands reach the server that uses the folder. Opening it is the
 * authority: it is in a folder of its own that only the owner may enter, also if others may enter the data folder.
 */
import { chmodSync, mkdirSync, rmSync } from "node:fs"
import * as http from "node:http"
import { join, resolve } from "node:path"
import { Readable } from "node:stream"
import { Data, Effect, Option, type Scope } from "effect"
import * as DenoServer from "./deno.ts"
import * as NodeServer from "./node.ts"
import type { Handling } from "./server.ts"
import { connectionError, socketAddress } from "./unixSocket.ts"

/** The socket cannot be opened, by the server or by a command. */
export class OperatorSocketFailed extends Data.TaggedError("OperatorSocketFailed")<{
  readonly path: string
  readonly cause: unknown
}> {
  override get message() {
    const { cause } = this
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : ""
    return `Cannot open the operator socket "${this.path}": ${reasons[code] ?? (cause instanceof Error ? cause.message : String(cause))}`
  }
}

/** Serves until the scope closes. The caller holds the lock of the data folder, so what is there is a leftover. */
export const serve = (dataDir: string, handling: Handling): Effect.Effect<void, OperatorSocketFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = folderIn(dataDir)
    const failed = (cause: unknown) => new OperatorSocketFailed({ path: join(folder, NAME), cause })
    const path = yield* Effect.mapError(socketAddress(join(folder, NAME)), failed)
    const remove = () => rmSync(folder, { recursive: true, force: true })
    const make = () => {
      remove()
      mkdirSync(folder, { mode: 0o700 })
    }
    yield* Effect.acquireRelease(Effect.try({ try: make, catch: failed }), () => Effect.sync(remove))
    const serveSocket = "Deno" in globalThis ? DenoServer.serveSocket : NodeServer.serveSocket
    yield* Effect.mapError(serveSocket({ ...handling, path }), failed)
    yield* Effect.try({ try: () => chmodSync(path, 0o600), catch: failed })
  })

/** Sends requests to the server that uses the data folder. None if no server listens. */
export const connect = (dataDir: string): Effect.Effect<Option.Option<Send>, OperatorSocketFailed> =>
  Effect.gen(function* () {
    const address = yield* socketAddress(join(folderIn(dataDir), NAME))
    const error = yield* connectionError(address)
    if (error === undefined) return Option.some((request: Request) => send(address, request))
    // ENOTDIR: the data folder is a file, which the store reports better.
    return ["ENOENT", "ECONNREFUSED", "ENOTDIR"].includes(error.code ?? "") ? Option.none() : yield* Effect.fail(error)
  }).pipe(Effect.mapError((cause) => new OperatorSocketFailed({ path: join(folderIn(dataDir), NAME), cause })))

export type Send = (request: Request) => Promise<Response>

// ---- helpers ----

/** Short: the path of a socket is limited. */
const NAME = "sock"

const folderIn = (dataDir: string) => join(resolve(dataDir), "operator")

const reasons: Readonly<Record<string, string>> = {
  EACCES: "the data folder belongs to another user; run the command as that user"
}

/** `fetch` cannot use a Unix socket on Node. */
const send = async (socketPath: string, request: Request): Promise<Response> => {
  const { pathname, search } = new URL(request.url)
  const body = new Uint8Array(await request.arrayBuffer())
  return new Promise((resume, fail) => {
    const options = {
      socketPath,
      path: pathname + search,
      method: request.method,
      headers: { ...Object.fromEntries(request.headers), "content-length": body.length },
      // A connection per request: one that is kept open would delay the end of the command.
      agent: false,
      signal: request.signal
    }
    const sent = http.request(options, (response) =>
      resume(
        new Response(Readable.toWeb(response) as ReadableStream<Uint8Array>, {
          status: response.statusCode ?? 0,
          headers: Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)])
        })
      )
    )
    sent.once("error", fail)
    sent.end(body)
  })
}
