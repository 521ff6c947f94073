/** Tells live readers when the gaps of their rules change. */
import { Clock, Effect, Option, type Scope } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { CoverageSelector } from "../rules/RuleStore.ts"
import { hold } from "../work/hold.ts"
import { sharedRead } from "../work/sharedRead.ts"
import type { Coverage } from "./Coverage.ts"
import type { CoverageOf, Window } from "./coverageOf.ts"

/** Of the coverage since `from`, in milliseconds. */
export type CoverageChanges = (
  selector: CoverageSelector,
  from: number
) => Effect.Effect<CoverageReader, never, Scope.Scope>

export interface CoverageReader {
  /** The coverage, if its gaps have changed since the last run. At first: if it has any. None while it is not due. */
  readonly changed: Effect.Effect<Option.Option<Coverage>>
  readonly isDue: () => boolean
}

/** All readers of the same rules share one read per second. */
export const makeCoverageChanges = (coverageOf: CoverageOf): CoverageChanges => {
  const shared = new Map<string, SharedRead>()

  const readAll = (selector: CoverageSelector) =>
    Effect.zipWith(coverageOf(selector), Clock.currentTimeMillis, (coverageIn, now) => ({
      coverageIn,
      hasGaps: gapsOf(coverageIn({ from: Option.none(), to: now })) !== ""
    }))

  const join = (selector: CoverageSelector, key: string) =>
    Effect.sync(() => {
      const joined = shared.get(key) ?? { read: sharedRead(readAll(selector), READ_MILLIS), readers: 0 }
      joined.readers++
      shared.set(key, joined)
      return joined
    })
  const leave = (joined: SharedRead, key: string) =>
    Effect.sync(() => {
      joined.readers--
      if (joined.readers === 0) shared.delete(key)
    })

  return (selector, from) => {
    const { account, rule, platforms } = selector
    const key = [account, Option.getOrElse(rule, () => ""), ...platforms].join(" ")
    return Effect.zipWith(
      hold(join(selector, key), (joined) => leave(joined, key)),
      Effect.clock,
      ({ read }, clock) => {
        let reported = ""
        let checkedAt = Number.NEGATIVE_INFINITY
        const check = (now: number) =>
          Effect.map(read, ({ coverageIn, hasGaps }) => {
            if (!hasGaps && reported === "") return Option.none()
            const coverage = coverageIn({ from: Option.some(Math.min(from, now)), to: now })
            const gaps = gapsOf(coverage)
            if (gaps === reported) return Option.none()
            reported = gaps
            return Option.some(coverage)
          }).pipe(Effect.catchTag("StoreUnavailable", () => Effect.succeedNone))
        const isDue = () => clock.unsafeCurrentTimeMillis() - checkedAt >= MIN_INTERVAL_MILLIS
        const changed = Effect.suspend(() => {
          if (!isDue()) return Effect.succeedNone
          checkedAt = clock.unsafeCurrentTimeMillis()
          return check(checkedAt)
        })
        return { changed, isDue }
      }
    )
  }
}

// ---- helpers ----

const MIN_INTERVAL_MILLIS = 3_000

/** How old a shared read may be. */
const READ_MILLIS = 1_000

/** `hasGaps`: at any time. Most readers then need not look further. */
interface SharedCoverage {
  readonly coverageIn: (window: Window) => Coverage
  readonly hasGaps: boolean
}

interface SharedRead {
  readonly read: Effect.Effect<SharedCoverage, StoreUnavailable>
  readers: number
}

/** Empty without gaps. */
const gapsOf = ({ platforms }: Coverage): string =>
  platforms
    .filter(({ gaps, suspected }) => gaps.length + suspected.length > 0)
    .map(({ platform, gaps, suspected }) => JSON.stringify([platform, gaps, suspected]))
    .join()
