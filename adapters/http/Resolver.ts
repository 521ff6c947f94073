/** DNS lookup. */
import { lookup } from "node:dns/promises"
import { Context } from "effect"

/** The operating system's resolver by default; tests replace it. */
export class Resolver extends Context.Reference<Resolver>()("adapters/http/Resolver", {
  defaultValue: (): { readonly addressesOf: (name: string) => Promise<ReadonlyArray<string>> } => ({
    addressesOf: async (name) => (await lookup(name, { all: true })).map(({ address }) => address)
  })
}) {}
