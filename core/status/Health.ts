/** Readiness: whether the store responds. */
import { Effect } from "effect"
import { KeyStore } from "../keys/KeyStore.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { Platforms } from "../platforms/Platform.ts"

export interface Readiness {
  readonly ready: boolean
  readonly store: "ok" | "unavailable"
  readonly platforms: ReadonlyArray<PlatformId>
}

export const readiness: Effect.Effect<Readiness, never, KeyStore | Platforms> = Effect.gen(function* () {
  const keys = yield* KeyStore
  const platforms = yield* Platforms
  // The same read as in every request. No key has this digest.
  const answered = yield* keys.findByDigest("readiness").pipe(Effect.timeout("2 seconds"), Effect.isSuccess)
  const ids = (yield* platforms.all).map(({ id }) => id)
  return { ready: answered, store: answered ? "ok" : "unavailable", platforms: ids }
})
