/** Storage port for the limits that the operator set for one account, and for counters that servers share. */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import type { LimitName, WindowLimit } from "./Limit.ts"

/** What one server counted in a window, which is the number of minutes since 1970. */
export interface Count {
  readonly account: AccountId
  readonly limit: WindowLimit
  readonly window: number
  readonly used: number
}

export class LimitStore extends Context.Tag("core/LimitStore")<
  LimitStore,
  {
    readonly limitsOf: (account: AccountId) => Effect.Effect<ReadonlyMap<string, number>, StoreUnavailable>
    /** None: back to the default. */
    readonly setLimit: (
      account: AccountId,
      name: LimitName,
      value: Option.Option<number>
    ) => Effect.Effect<void, StoreUnavailable>
    /**
     * Replaces what this server counted, and returns what all other servers counted in the same windows. Forgets older
     * windows.
     */
    readonly shareCounts: (
      server: string,
      counts: ReadonlyArray<Count>
    ) => Effect.Effect<ReadonlyArray<Count>, StoreUnavailable>
  }
>() {
  static readonly layerMemory: Layer.Layer<LimitStore> = Layer.sync(LimitStore, () => {
    const limits = new Map<AccountId, Map<string, number>>()
    let shared: ReadonlyArray<Count & { readonly server: string }> = []

    return LimitStore.of({
      limitsOf: (account) => Effect.sync(() => new Map(limits.get(account))),
      setLimit: (account, name, value) =>
        Effect.sync(() => {
          const own = limits.get(account) ?? new Map<string, number>()
          limits.set(account, own)
          if (Option.isSome(value)) own.set(name, value.value)
          else own.delete(name)
        }),
      shareCounts: (server, counts) =>
        Effect.sync(() => {
          const isSame = (one: Count, other: Count) =>
            one.account === other.account && one.limit === other.limit && one.window === other.window
          const newest = Math.max(...counts.map(({ window }) => window))
          shared = [
            ...shared.filter(
              (old) => old.window >= newest && !(old.server === server && counts.some((count) => isSame(old, count)))
            ),
            ...counts.map((count) => ({ ...count, server }))
          ]
          return counts.map((count) => ({
            ...count,
            used: shared
              .filter((other) => other.server !== server && isSame(other, count))
              .reduce((sum, { used }) => sum + used, 0)
          }))
        })
    })
  })
}
