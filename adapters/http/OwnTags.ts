/**
 * The tags that mark this deployment's rules on a platform: `earshot:<deployment>:<generation>.<number>`. Each server
 * process is a generation, and each registration has the next number, which is stored before it is used. So a server on
 * a copy of the store does not know the tags of what was registered since. Earlier versions wrote no generation.
 */
import { Buffer } from "node:buffer"
import { Effect, Schedule } from "effect"
import { Entropy } from "../../core/model/Entropy.ts"
import { PlatformUnavailable } from "../../core/model/Errors.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import type { RuleStore } from "../../core/rules/RuleStore.ts"

export interface Origin {
  readonly isOurs: boolean
  readonly isNewer?: boolean
}

export interface OwnTags {
  /** Without a generation: for calls that register nothing. */
  readonly deployment: string
  /** For the rules of one registration. */
  readonly next: Effect.Effect<string, PlatformUnavailable>
  /** Tells by its tag who made a rule. */
  readonly origins: Effect.Effect<(tag: unknown) => Origin, PlatformUnavailable>
}

/** Waits until the store is available. `takesOver`: rules of a copy of this store count as ours. */
export const ownTags = (
  store: RuleStore["Type"],
  platform: PlatformId,
  { takesOver = false } = {}
): Effect.Effect<OwnTags, never, Entropy> =>
  Effect.gen(function* () {
    const { bytes } = yield* Entropy
    const deployment = yield* store.deployment.pipe(
      Effect.tapError(({ cause }) => Effect.logWarning(`Platform "${platform}" waits for the store`, cause)),
      Effect.retry(Schedule.spaced("1 second")),
      // Never happens: the schedule has no end.
      Effect.orDie,
      Effect.map((id) => `earshot:${id}`)
    )
    const generation = Buffer.from(bytes(4)).toString("hex")
    const storeDown = () => new PlatformUnavailable({ platform, reason: "the store cannot be reached" })

    const next = store.nextOfGeneration(generation).pipe(
      Effect.map((number) => `${deployment}:${generation}.${number}`),
      Effect.mapError(storeDown)
    )

    const origins = Effect.mapBoth(store.generations, {
      onFailure: storeDown,
      onSuccess: (generations) => (tag: unknown) => {
        if (tag === deployment) return OURS
        if (typeof tag !== "string" || !tag.startsWith(`${deployment}:`)) return FOREIGN
        const [, made = "", number = ""] = GENERATION.exec(tag.slice(deployment.length)) ?? []
        const isKnown = Number(number) <= (generations.get(made) ?? 0) && number !== ""
        return isKnown || takesOver ? OURS : NEWER
      }
    })

    return { deployment, next, origins }
  })

// ---- helpers ----

const GENERATION = /^:([0-9a-f]{8})\.(\d{1,15})$/

const OURS: Origin = { isOurs: true }
const NEWER: Origin = { isOurs: false, isNewer: true }
const FOREIGN: Origin = { isOurs: false }
