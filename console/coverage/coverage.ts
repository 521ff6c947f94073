/** Coverage as a chart shows it: gaps by kind, and the share of a period that was watched. */
import { counted } from "../../core/text/counted.ts"
import type { PlatformStatus, Rule } from "../client.ts"
import { duration } from "../parts/duration.ts"

export type PlatformCoverage = PlatformStatus["coverage"]
type WireGap = PlatformCoverage["gaps"][number]

/** In milliseconds. */
export interface Period {
  readonly from: number
  readonly to: number
}

/**
 * `off`: nothing was to be watched, because there were no rules or the rule was paused. `suspected`: events may be
 * missing, without proof.
 */
export type GapKind = "lost" | "open" | "recovered" | "suspected" | "off"

export interface ShownGap extends Period {
  /** The same while the period moves on. */
  readonly key: string
  readonly kind: GapKind
  readonly isOpen: boolean
  /** In words, with what the service adds. */
  readonly cause: string
  /** Only this rule was not watched. */
  readonly ruleId?: string
}

export const KINDS: Readonly<Record<GapKind, string>> = {
  lost: "Not recovered",
  open: "Open",
  recovered: "Recovered",
  suspected: "Suspected",
  off: "Nothing to watch"
}

/** The gaps of the period, cut to it, newest first. A gap that continues another one is shown as one with it. */
export const gapsIn = ({ platform, gaps, suspected }: PlatformCoverage, period: Period): ReadonlyArray<ShownGap> =>
  joined([
    ...gaps.map(({ from, to, cause, detail, recovered, rule_id }) => ({
      key: `${platform} ${cause} ${from} ${rule_id}`,
      from: Date.parse(from),
      to: to === undefined ? period.to : Date.parse(to),
      kind: kindOf({ cause, recovered, isOpen: to === undefined }),
      isOpen: to === undefined,
      cause: CAUSES[cause] === undefined ? detail : `${CAUSES[cause]}: ${detail}`,
      ...(rule_id !== undefined && { ruleId: rule_id })
    })),
    ...suspected.map(({ from, to, detail }) => ({
      key: `${platform} suspected ${from}`,
      from: Date.parse(from),
      to: Date.parse(to),
      kind: "suspected" as const,
      isOpen: false,
      cause: `The stream was open but unusually quiet: ${detail}`
    }))
  ])
    .filter(({ from, to }) => to > period.from && from < period.to)
    .map((gap) => ({ ...gap, from: Math.max(gap.from, period.from), to: Math.min(gap.to, period.to) }))
    .sort((a, b) => b.from - a.from)

/** Without the gaps of single rules. */
export const ownGapsIn = (coverage: PlatformCoverage, period: Period): ReadonlyArray<ShownGap> =>
  gapsIn(coverage, period).filter(({ ruleId }) => ruleId === undefined)

/** The period without what lies before the first watched time, so that a short watch can be seen in a long period. */
export const startedIn = (coverages: ReadonlyArray<PlatformCoverage>, period: Period): Period => {
  const starts = coverages.flatMap((coverage) => [
    ...(coverage.watched_since === undefined ? [] : [Date.parse(coverage.watched_since)]),
    ...gapsIn(coverage, period).flatMap(({ kind, from }) => (kind === "off" ? [] : [from]))
  ])
  const first = Math.min(...starts)
  return first > period.from && first < period.to ? { from: first, to: period.to } : period
}

/** When it is known to be watched, gaps included; none if never in this period. `confirmed` is the end of what is stored. */
export const watchedIn = (
  { watched_since, watched_until }: PlatformCoverage,
  period: Period
): (Period & { readonly confirmed: number }) | undefined => {
  if (watched_since === undefined) return undefined
  const from = Math.max(Date.parse(watched_since), period.from)
  if (from >= period.to) return undefined
  const until = watched_until === undefined ? from : Date.parse(watched_until)
  return { from, to: period.to, confirmed: Math.min(Math.max(until, from), period.to) }
}

/** Of one rule, from the coverage of all rules of the account: the gaps of the platform since it was created, and its own. */
export const coverageOfRule = (
  coverage: PlatformCoverage,
  { id, created_at }: Pick<Rule, "id" | "created_at">
): PlatformCoverage => ({
  ...coverage,
  ...(coverage.watched_since !== undefined && {
    watched_since: created_at > coverage.watched_since ? created_at : coverage.watched_since
  }),
  gaps: coverage.gaps
    .filter(({ rule_id, to }) => (rule_id === undefined || rule_id === id) && (to === undefined || to > created_at))
    .map((gap) => since(created_at, gap))
    .map(asOfPlatform),
  suspected: coverage.suspected.filter(({ to }) => to > created_at).map((period) => since(created_at, period))
})

/** In the timeline of a rule, its own gaps count like those of the platform. */
export const asOfPlatform = ({ rule_id: _, ...gap }: WireGap): WireGap => gap

/** How long something was to be watched, and the share of it that was, from 0 to 1. None if there was nothing to watch. */
export interface Watch {
  readonly wanted: number
  readonly share: number
}

/** Recovered gaps count as watched. Gaps of single rules do not count. */
export const watchOf = (coverage: PlatformCoverage, period: Period): Watch | undefined => {
  const gaps = ownGapsIn(coverage, period)
  const since = watchedIn(coverage, period)?.from
  const starts = [...gaps.map(({ from }) => from), ...(since === undefined ? [] : [since])]
  if (starts.length === 0) return undefined
  const ofKinds = (...kinds: ReadonlyArray<GapKind>) => lengthOf(gaps.filter(({ kind }) => kinds.includes(kind)))
  const off = ofKinds("off")
  const wanted = period.to - Math.min(...starts) - off
  if (wanted <= 0) return undefined
  return { wanted, share: Math.max(0, 1 - (ofKinds("lost", "open", "off") - off) / wanted) }
}

/** Such as `watched 99.2 %; 3 gaps, 1 not recovered (12 s)`. Names all kinds of gaps that `gapsIn` lists. */
export const describeCoverage = (coverage: PlatformCoverage, period: Period): string => {
  const watch = watchOf(coverage, period)
  if (watch === undefined) return "nothing to watch"
  const isWhole = watch.wanted >= period.to - period.from
  // Rounded down: never 100 % with a gap.
  const watched = `watched ${Math.floor(watch.share * 10_000) / 100} %${isWhole ? "" : ` of ${duration(watch.wanted)}`}`
  const all = gapsIn(coverage, period)
  const own = ownGapsIn(coverage, period)
  const gaps = own.filter(({ kind }) => kind !== "off")
  const off = lengthOf(own.filter(({ kind }) => kind === "off"))
  const open = gaps.some(({ kind }) => kind === "open") ? ", one is open now" : ""
  const more = coverage.more_gaps ? "more than " : ""
  return [
    all.length === 0 ? `${watched}, no gaps` : watched,
    ...(gaps.length === 0 ? [] : [`${more}${counted(gaps.length, "gap")}${describeLost(gaps)}${open}`]),
    ...(off === 0 ? [] : [`nothing to watch for ${duration(off)}`]),
    ...(own.length === all.length ? [] : [`${gaps.length === 0 ? "gaps only" : "more gaps"} in single rules`])
  ].join("; ")
}

// ---- helpers ----

/** Only where the detail does not say the same. */
const CAUSES: Readonly<Partial<Record<WireGap["cause"], string>>> = {
  outage: "The platform could not be reached",
  stall: "The stream was silent for too long",
  cap: "A limit of the platform was reached",
  credit: "The platform account has no credit left",
  not_configured: "The platform denies access to this server",
  store_down: "Matches could not be stored",
  unreadable: "The platform sent unreadable data",
  rule_failed: "The platform rejected the rule",
  rules_dropped: "The platform lost the rule",
  matching: "The rule was paused: matching the rules of the account took too long",
  budget: "Paused to stay within the monthly budget",
  upstream_off: "The server was set not to connect to the platform"
}

/** Nothing is missing from before. */
const since = <A extends { readonly from: string }>(at: string, period: A): A =>
  period.from < at ? { ...period, from: at } : period

const kindOf = ({
  cause,
  recovered,
  isOpen
}: Pick<WireGap, "cause" | "recovered"> & { readonly isOpen: boolean }): GapKind => {
  if (cause === "no_rules" || cause === "paused") return "off"
  return isOpen ? "open" : recovered ? "recovered" : "lost"
}

/** An edit during a pause ends one gap and begins the next. */
const joined = (gaps: ReadonlyArray<ShownGap>): ReadonlyArray<ShownGap> => {
  const found: Array<ShownGap> = []
  for (const gap of gaps.toSorted((a, b) => a.from - b.from)) {
    const at = found.findIndex((before) => isContinued(before, gap))
    const before = found[at]
    if (before === undefined) found.push(gap)
    else found[at] = { ...before, to: Math.max(before.to, gap.to), isOpen: before.isOpen || gap.isOpen }
  }
  return found
}

const isContinued = (before: ShownGap, gap: ShownGap): boolean =>
  before.to >= gap.from && before.kind === gap.kind && before.cause === gap.cause && before.ruleId === gap.ruleId

const describeLost = (gaps: ReadonlyArray<ShownGap>): string => {
  const lost = gaps.filter(({ kind }) => kind === "lost" || kind === "open")
  if (lost.length === 0) return gaps.every(({ kind }) => kind === "recovered") ? ", recovered" : ""
  return `, ${lost.length === gaps.length ? "" : `${lost.length} `}not recovered (${duration(lengthOf(lost))})`
}

/** Of periods that may overlap. */
const lengthOf = (periods: ReadonlyArray<Period>): number => {
  let sum = 0
  let end = Number.NEGATIVE_INFINITY
  for (const { from, to } of [...periods].sort((a, b) => a.from - b.from)) {
    sum += Math.max(0, to - Math.max(from, end))
    end = Math.max(end, to)
  }
  return sum
}
