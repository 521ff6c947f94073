/** Compares what the servers stored and reported with what the simulator published and had open. */
import { PLATFORM_IDS, type PlatformId } from "../../fixtures/languages.ts"
import type { DoneFault } from "./faults.ts"
import type { Listed, Published, ReportedGap, Rule } from "./publisher.ts"
import type { Connection } from "./simulator.ts"
import type { Write } from "./writes.ts"

/** From publishing to the arrival on a busy machine: an event just before a gap may have been under way. */
const IN_FLIGHT_MILLIS = 1_000

/**
 * An event that was stored within a second proves that its stream was watched when it was published. An event of the
 * last second of a gap can be replayed that quickly. The second second is for the machine: a batch, its transaction,
 * and the proxies in between.
 */
const LIVE_MILLIS = 1_000
const TOLERANCE_MILLIS = 2_000

/**
 * A gap begins this much earlier at most than the last sign of life. Posts of X arrive late, by up to 10 seconds before a
 * process has measured it: only older ones are known to be complete.
 */
const EARLIER_MILLIS: Readonly<Record<PlatformId, number>> = { x: 10_000, firehose: 0 }

/** A server that was frozen or cut off notices by then that it lost its stream. */
const NOTICE_MILLIS = 10_000

export interface Facts {
  readonly published: ReadonlyArray<Published>
  /** What each server answers. */
  readonly answers: ReadonlyArray<{ readonly server: string; readonly rule: Rule; readonly listed: Listed }>
  readonly writes: ReadonlyArray<Write>
  /** Oldest first. */
  readonly connections: ReadonlyArray<Connection & { readonly server: string }>
  readonly faults: ReadonlyArray<DoneFault>
}

export const differencesOf = (facts: Facts): ReadonlyArray<string> => [
  ...facts.answers.flatMap((answer) => storedDifferences(facts, answer)),
  ...openGaps(facts.answers),
  ...answerDifferences(facts.answers),
  ...PLATFORM_IDS.flatMap((platform) =>
    [
      ...falseGaps(facts, platform),
      ...missingGaps(facts, platform),
      ...secondStreams(facts, platform),
      ...writerDifferences(facts.writes.filter((write) => write.platform === platform))
    ].map((difference) => `${platform}: ${difference}`)
  )
]

/** No gap covers time in which the stream was watched, except shortly before it ended. */
export const falseGaps = (
  { published, answers, writes, connections }: Pick<Facts, "published" | "answers" | "writes" | "connections">,
  platform: PlatformId
): ReadonlyArray<string> => {
  const times = new Map(published.map(({ number, at }) => [number, at]))
  const ends = connections.filter((one) => one.platform === platform && !one.isOpen).map(({ seenAt }) => seenAt)
  // Two gaps close to each other are one: the time between them can lie in the middle of it.
  const isBeforeEnd = (at: number) => ends.some((end) => at <= end && at >= end - EARLIER_MILLIS[platform])
  const watchedAt = writes.flatMap(({ platform: of, event, at }) => {
    const publishedAt = event === undefined || of !== platform ? undefined : times.get(event)
    if (publishedAt === undefined || isBeforeEnd(publishedAt)) return []
    return at - publishedAt < LIVE_MILLIS ? [publishedAt] : []
  })
  return gapsOf(answers, platform).flatMap((gap) => {
    const from = gap.from + EARLIER_MILLIS[platform] + TOLERANCE_MILLIS
    const inside = watchedAt.filter((at) => at > from && at < gap.to - TOLERANCE_MILLIS)
    const [first] = inside
    return first === undefined
      ? []
      : [`The gap ${described(gap)} has ${inside.length} events that were stored live, the first of ${iso(first)}`]
  })
}

/** The ledger of a platform never says less than before. */
export const backwardSteps = (writes: ReadonlyArray<Write>, platform: PlatformId): ReadonlyArray<string> => {
  let reached = 0
  return writes.flatMap(({ platform: of, watchedUntil, server }) => {
    if (of !== platform || watchedUntil === undefined) return []
    const before = reached
    reached = watchedUntil
    return watchedUntil >= before
      ? []
      : [`${platform}: ${server} set watched_until back by ${before - watchedUntil} ms, to ${iso(watchedUntil)}`]
  })
}

/** Without the time before the first stream was open for the rules. */
export const gapsOf = (answers: Facts["answers"], platform: PlatformId): ReadonlyArray<ReportedGap> => {
  const gaps = answers.flatMap(({ listed }) => listed.gaps).filter((gap) => gap.platform === platform)
  const unique = new Map(gaps.map((gap) => [`${gap.from} ${gap.to}`, gap]))
  return [...unique.values()].filter(({ cause }) => cause !== "rule_pending")
}

// ---- helpers ----

const iso = (millis: number) => (Number.isFinite(millis) ? new Date(millis).toISOString() : "now")

const described = ({ cause, from, to, isRecovered }: ReportedGap) =>
  `${cause} from ${iso(from)} to ${iso(to)}${isRecovered ? " (recovered)" : ""}`

/** Each event that the rule meets is stored once, or some server reports a gap then whose events were not recovered. */
const storedDifferences = (
  { published, answers }: Facts,
  { server, rule, listed }: Facts["answers"][number]
): ReadonlyArray<string> =>
  PLATFORM_IDS.flatMap((platform) => {
    const times = new Map<number, number>()
    for (const number of listed.stored[platform]) times.set(number, (times.get(number) ?? 0) + 1)
    const gaps = answers.filter((answer) => answer.rule.id === rule.id).flatMap((answer) => answer.listed.gaps)
    const missed = gaps.filter((gap) => gap.platform === platform && !gap.isRecovered)
    const isInGap = (at: number) => missed.some(({ from, to }) => at >= from - IN_FLIGHT_MILLIS && at <= to)
    return published.flatMap(({ number, text, at }) => {
      const count = times.get(number) ?? 0
      const problem = !text.includes(rule.word)
        ? count > 0 && "is stored, although it does not match"
        : count === 0
          ? !isInGap(at) && "is lost outside of every gap"
          : count > 1 && `is stored ${count} times`
      const where = `${platform} event ${number} of ${iso(at)} for ${rule.word} on ${server}`
      return problem === false ? [] : [`${where} ${problem}`]
    })
  })

const openGaps = (answers: Facts["answers"]): ReadonlyArray<string> =>
  answers.flatMap(({ server, listed }) =>
    listed.gaps
      .filter(({ to }) => !Number.isFinite(to))
      .map((gap) => `${server} reports an open gap of ${gap.platform}: ${described(gap)}`)
  )

/** All servers report the same gaps. */
const answerDifferences = (answers: Facts["answers"]): ReadonlyArray<string> =>
  answers.flatMap(({ server, rule, listed }) => {
    const reference = answers.find((other) => other.rule.id === rule.id)
    const texts = (gaps: ReadonlyArray<ReportedGap>) =>
      gaps
        .map((gap) => `${gap.platform} ${described(gap)}`)
        .sort()
        .join("; ")
    const own = texts(listed.gaps)
    const other = texts(reference?.listed.gaps ?? [])
    return own === other ? [] : [`${server} reports the gaps ${own}, and ${reference?.server} ${other}`]
  })

/** Each time without a stream on the simulator is a gap, also if its events were recovered. */
const missingGaps = ({ published, answers, connections }: Facts, platform: PlatformId) => {
  const gaps = gapsOf(answers, platform)
  const holes: Array<{ readonly from: number; readonly to: number }> = []
  let openUntil = published[0]?.at ?? Number.POSITIVE_INFINITY
  for (const { openedAt, seenAt } of connections.filter((one) => one.platform === platform)) {
    if (openedAt - openUntil > TOLERANCE_MILLIS) holes.push({ from: openUntil, to: openedAt })
    openUntil = Math.max(openUntil, seenAt)
  }
  return holes
    .filter(({ from, to }) => !gaps.some((gap) => gap.from < to && gap.to > from))
    .map(({ from, to }) => `No gap is reported, but no stream was open from ${iso(from)} to ${iso(to)}`)
}

/** Two streams at a time are only open while a fault keeps the server of the older one from closing it. */
const secondStreams = ({ connections, faults }: Facts, platform: PlatformId): ReadonlyArray<string> => {
  const streams = connections.filter((one) => one.platform === platform)
  return streams.flatMap((older, index) =>
    streams.slice(index + 1).flatMap((newer) => {
      const until = Math.min(older.seenAt, newer.seenAt)
      const hasFault = (time: number) =>
        faults.some(
          ({ server = older.server, from, to }) => server === older.server && from <= time && time <= to + NOTICE_MILLIS
        )
      const isExcused = older.server === newer.server || (hasFault(newer.openedAt) && hasFault(until))
      return until - newer.openedAt < TOLERANCE_MILLIS || isExcused
        ? []
        : [`${older.server} and ${newer.server} had streams from ${iso(newer.openedAt)} to ${iso(until)}`]
    })
  )
}

/** One process writes per epoch, and epochs never go back. */
const writerDifferences = (writes: ReadonlyArray<Write>): ReadonlyArray<string> => {
  const unowned = writes.find(({ epoch }) => epoch === null)
  if (unowned !== undefined) {
    return [`${unowned.server} wrote to ${unowned.table} at ${iso(unowned.at)}, but "owners" names no owner`]
  }
  const writers = new Map<string, Write>()
  let newest = 0
  return writes.flatMap((write) => {
    const { epoch, server, owner, table, at } = write
    const where = `${server} wrote to ${table} in epoch ${epoch} of ${owner} at ${iso(at)}`
    const first = writers.get(`${epoch}`) ?? write
    writers.set(`${epoch}`, first)
    const isOld = (epoch ?? 0) < newest
    newest = Math.max(newest, epoch ?? 0)
    if (isOld) return [`${where}, after epoch ${newest}`]
    return first.server === server && first.owner === owner
      ? []
      : [`${where}, and ${first.server} did so in the same epoch, of ${first.owner}`]
  })
}
