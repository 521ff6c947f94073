/** `LimitStore` in memory. */
import { Effect, Layer, Option } from "effect"
import type { AccountId } from "../../core/model/Ids.ts"
import { type Count, LimitStore } from "../../core/quotas/LimitStore.ts"

export const memoryLimits: Layer.Layer<LimitStore> = Layer.sync(LimitStore, () => {
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
