/** TCP connections. */
import { connect, type Socket } from "node:net"
import { Context } from "effect"

/** The operating system's by default; tests replace them. */
export class Tcp extends Context.Reference<Tcp>()("adapters/http/Tcp", {
  defaultValue: (): { readonly connect: (to: { readonly host: string; readonly port: number }) => Socket } => ({
    connect
  })
}) {}
