/** `ClaimStore` in memory. */
import { Effect, Layer, Option } from "effect"
import { type Attempt, type Claimed, ClaimStore, type NewClaim, TAKEN_OVER } from "../../core/idempotency/ClaimStore.ts"
import { StoreUnavailable } from "../../core/model/Errors.ts"

/** A process that ends takes its claims with it, so none is ever abandoned. */
export const memoryClaims: Layer.Layer<ClaimStore> = Layer.sync(ClaimStore, () => {
  const claims = new Map<string, NewClaim & Pick<Claimed, "answer">>()
  const ownOf = ({ digest, attempt }: Attempt) => {
    const claim = claims.get(digest)
    return claim?.attempt === attempt ? claim : undefined
  }

  return ClaimStore.of({
    begin: (claim) =>
      Effect.sync(() => {
        const known = claims.get(claim.digest)
        if (known !== undefined && known.at >= claim.expiredBefore) return Option.some(known)
        claims.set(claim.digest, { ...claim, answer: Option.none() })
        return Option.none()
      }),
    keep: (attempt, answer) =>
      Effect.suspend(() => {
        const own = ownOf(attempt)
        if (own === undefined) return new StoreUnavailable({ operation: "claims.keep", cause: TAKEN_OVER })
        claims.set(own.digest, { ...own, answer: Option.some(answer) })
        return Effect.void
      }),
    release: (attempt) =>
      Effect.sync(() => {
        const own = ownOf(attempt)
        if (own !== undefined && Option.isNone(own.answer)) claims.delete(own.digest)
      }),
    releaseAll: Effect.sync(() => {
      for (const [digest, { answer }] of claims) if (Option.isNone(answer)) claims.delete(digest)
    }),
    atomically: (effect) => effect,
    expire: (before, atMost) =>
      Effect.sync(() => {
        const old = [...claims.values()].filter(({ at }) => at < before).slice(0, atMost)
        for (const { digest } of old) claims.delete(digest)
        return old.length
      })
  })
})
