/** How names become addresses. */
import { lookup } from "node:dns/promises"
import { Context } from "effect"

/** The machine's own way, unless someone else answers. */
export class Resolver extends Context.Reference<Resolver>()("adapters/webhooks/Resolver", {
  defaultValue: (): { readonly addressesOf: (name: string) => Promise<ReadonlyArray<string>> } => ({
    addressesOf: async (name) => (await lookup(name, { all: true })).map(({ address }) => address)
  })
}) {}
