/** The matches that the page holds: stored ones and those of the live tail, merged without a hole or a repeat. */
import type { Answers, Match } from "../client.ts"

export type MatchMessage = Answers["matches"]["events"] extends AsyncIterable<infer Message> ? Message : never
export type MatchPage = Answers["matches"]["list"]
export type Coverage = MatchPage["coverage"]

export interface Tail {
  /** Newest first. */
  readonly shown: ReadonlyArray<Match>
  /** Newer than those shown, newest first: held back until the reader wants them. */
  readonly waiting: ReadonlyArray<Match>
  /** The id after which the live tail goes on. */
  readonly cursor: string
  /** The cursor of the next older page; absent if there is none. */
  readonly older?: string
  /** Redactions since the older page was asked for, which may be older than they are; absent if none is asked for. */
  readonly redactedMeanwhile?: ReadonlyArray<Redaction>
  readonly coverage: Coverage
}

/** `cursor`: of the newest match, or if there is none, of an earlier time. */
export const tailOf = (page: MatchPage, cursor: string, since?: string): Tail => ({
  ...withPage({ shown: [], matches: page.matches, next: page.next_cursor, since }),
  waiting: [],
  cursor: page.matches[0]?.id ?? cursor,
  coverage: page.coverage
})

/** A message that the tail has already seen changes nothing. */
export const withMessages = (tail: Tail, messages: ReadonlyArray<MatchMessage>, isHeld: boolean): Tail => {
  let { cursor, coverage } = tail
  const arrived: Array<Match> = []
  const redactions: Array<Redaction> = []
  for (const { id, data } of messages) {
    if (data.type === "coverage") coverage = data.coverage
    if (data.type === "match.redacted") redactions.push(data.redaction)
    if (data.type === "match" && id > cursor) arrived.push(data.match)
    if (id > cursor) cursor = id
  }
  const { redactedMeanwhile } = tail
  const next: Tail = {
    ...tail,
    cursor,
    coverage,
    shown: redacted(tail.shown, redactions),
    waiting: redacted(newest([...arrived.reverse(), ...tail.waiting]), redactions),
    ...(redactedMeanwhile && { redactedMeanwhile: [...redactedMeanwhile, ...redactions] })
  }
  return isHeld ? next : released(next)
}

/** Shows what waits. */
export const released = (tail: Tail): Tail => {
  if (tail.waiting.length === 0) return tail
  const { older: _, ...rest } = tail
  const all = [...tail.waiting, ...tail.shown]
  // Paging back from the middle of the list would leave a hole.
  const isCut = all.length > MAX_KEPT
  return {
    ...rest,
    shown: newest(all),
    waiting: [],
    ...(tail.older !== undefined && !isCut && { older: tail.older })
  }
}

export const askingForOlder = (tail: Tail | undefined): Tail | undefined => tail && { ...tail, redactedMeanwhile: [] }

/** `since`: the smallest id that is wanted. */
export const withOlder = (tail: Tail, page: MatchPage, since?: string): Tail => {
  const { older, redactedMeanwhile = [], ...rest } = tail
  // The tail dropped its end while the page was on its way.
  if (older === undefined) return rest
  const matches = redacted(page.matches, redactedMeanwhile)
  return { ...rest, ...withPage({ shown: tail.shown, matches, next: page.next_cursor, since }) }
}

/** The page keeps no more: older matches are dropped. */
export const isFull = ({ shown }: Tail): boolean => shown.length >= MAX_KEPT

export const MAX_KEPT = 10_000

export interface OpenGap {
  readonly platform: string
  /** If only this rule is not watched. */
  readonly ruleId?: string
  readonly since: string
  readonly detail: string
}

/** What is not watched at the moment. */
export const openGapsIn = (coverage: Coverage): ReadonlyArray<OpenGap> =>
  coverage.platforms.flatMap(({ platform, gaps }) =>
    gaps
      .filter(({ to }) => to === undefined)
      .map(({ from, detail, rule_id }) => ({
        platform,
        ...(rule_id !== undefined && { ruleId: rule_id }),
        since: from,
        detail
      }))
  )

// ---- helpers ----

type Redaction = Extract<MatchMessage["data"], { type: "match.redacted" }>["redaction"]

const newest = (matches: ReadonlyArray<Match>): ReadonlyArray<Match> =>
  matches.length > MAX_KEPT ? matches.slice(0, MAX_KEPT) : matches

const withPage = ({ shown, matches, next, since = "" }: OlderPage): Pick<Tail, "shown" | "older"> => {
  const wanted = matches.filter(({ id }) => id >= since)
  const all = [...shown, ...wanted]
  const hasOlder = next !== undefined && wanted.length === matches.length && all.length < MAX_KEPT
  return { shown: newest(all), ...(hasOlder && { older: next }) }
}

interface OlderPage {
  readonly shown: ReadonlyArray<Match>
  readonly matches: ReadonlyArray<Match>
  readonly next: string | undefined
  readonly since: string | undefined
}

const redacted = (matches: ReadonlyArray<Match>, redactions: ReadonlyArray<Redaction>): ReadonlyArray<Match> => {
  if (redactions.length === 0) return matches
  const reasons = new Map(redactions.map(({ id, redacted }) => [id, redacted]))
  return matches.map((match) => {
    const found = reasons.get(match.id)
    return found === undefined ? match : { ...match, payload: {}, redacted: found }
  })
}
