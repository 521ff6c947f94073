/** Connects the adapter to the simulator in this process: real HTTP, but no sockets, on any clock. */
import type { Socket } from "node:net"
import { Duplex } from "node:stream"
import { Layer } from "effect"
import { Resolver } from "../../../adapters/http/Resolver.ts"
import { Tcp } from "../../../adapters/http/Tcp.ts"
import type { Simulator } from "../../../simulator/Simulator.ts"
import { httpServer } from "../../../simulator/server.ts"

/** Every name leads to the simulator. */
export const networkOf = ({ handler }: Simulator): Layer.Layer<Tcp | Resolver> => {
  const server = httpServer(handler)
  const connect = () => {
    const [client, peer] = [new End(), new End()]
    client.peer = peer
    peer.peer = client
    process.nextTick(() => {
      server.emit("connection", peer)
      client.emit("connect")
    })
    // Node's HTTP takes any stream in both directions.
    return client as unknown as Socket
  }
  return Layer.mergeAll(
    Layer.succeed(Tcp, { connect }),
    Layer.succeed(Resolver, { addressesOf: async () => [ADDRESS] })
  )
}

// ---- helpers ----

/** A public one. */
const ADDRESS = "93.184.215.14"

/** One end of a connection. */
class End extends Duplex {
  readonly remoteAddress = ADDRESS
  peer: End | undefined
  /** A write of the peer that waits for this end to be read. */
  private onRead: (() => void) | undefined

  setTimeout() {
    return this
  }

  setNoDelay() {
    return this
  }

  setKeepAlive() {
    return this
  }

  override _write(chunk: Uint8Array, _: string, done: () => void): void {
    const { peer } = this
    if (peer === undefined || peer.push(chunk)) done()
    else peer.onRead = done
  }

  override _read(): void {
    const { onRead } = this
    this.onRead = undefined
    onRead?.()
  }

  override _final(done: () => void): void {
    this.peer?.push(null)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { peer, writableFinished } = this
    // What was sent before a proper end is still read.
    if (!writableFinished) process.nextTick(() => peer?.destroy())
    this._read()
    done(error)
  }
}
