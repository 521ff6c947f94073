/** Publishes a steady stream of numbered posts and pages to the simulator, and reads back what the servers stored. */
import { setTimeout as sleep } from "node:timers/promises"
import { seeded } from "../../adapters/demo/random.ts"
import type { MatchList } from "../../core/matches/Matches.ts"
import { PLATFORM_IDS, type PlatformId } from "../../fixtures/languages.ts"
import { inSeconds } from "../inSeconds.ts"
import type { Server } from "./fleet.ts"
import type { SimulatorProcess } from "./simulator.ts"

export const WORDS = ["storm", "flood"] as const

export interface Rule {
  readonly id: string
  readonly word: (typeof WORDS)[number]
}

/** The post and the page have the same number and text. Times in milliseconds. */
export interface Published {
  readonly number: number
  readonly text: string
  readonly at: number
}

export interface Publisher {
  /** So far. */
  readonly published: ReadonlyArray<Published>
  readonly stop: () => Promise<void>
}

export const startPublisher = (simulator: SimulatorProcess, seed: number): Publisher => {
  const random = seeded(seed)
  const published: Array<Published> = []
  let isStopped = false
  const publishing = (async () => {
    while (!isStopped) {
      const number = published.length + 1
      const text = `event ${number} is about a ${random.pick(["storm", "flood", "storm and a flood", "calm sea"])}`
      const at = Date.now()
      published.push({ number, text, at })
      await simulator.publish([
        { data: { id: String(number), text, created_at: inSeconds(at) } },
        {
          document: {
            url: `https://news.example.com/${number}`,
            publish_time: inSeconds(at).slice(0, 19),
            diff: { chunks: [{ typ: "ins", text }] }
          }
        }
      ])
      await sleep(20 + random.below(60))
    }
  })()
  // An error is reported by `stop`.
  publishing.catch(() => {})
  return {
    published,
    stop: () => {
      isStopped = true
      return publishing
    }
  }
}

/** One rule per word, on both platforms. */
export const createRules = async (server: Server): Promise<ReadonlyArray<Rule>> => {
  const rules: Array<Rule> = []
  for (const word of WORDS) {
    const draft = { name: word, intent: "Survive", platforms: PLATFORM_IDS, overrides: { x: word, firehose: word } }
    const { rule_id } = await server.post<{ rule_id: string }>("/api.CreateRule", draft)
    rules.push({ id: rule_id, word })
  }
  return rules
}

/** A gap of a rule, times in milliseconds. */
export interface ReportedGap {
  readonly platform: PlatformId
  readonly from: number
  /** Infinity for an open gap. */
  readonly to: number
  readonly cause: string
  readonly isRecovered: boolean
}

export interface Listed {
  /** The numbers of the events, per match. */
  readonly stored: Readonly<Record<PlatformId, ReadonlyArray<number>>>
  readonly gaps: ReadonlyArray<ReportedGap>
}

/** All matches and gaps of the rule. */
export const listed = async (server: Server, rule: Rule): Promise<Listed> => {
  const stored: Record<PlatformId, Array<number>> = { x: [], firehose: [] }
  const gaps = new Map<string, ReportedGap>()
  let cursor: string | undefined
  do {
    const query = { rule_id: rule.id, limit: 500, ...(cursor !== undefined && { cursor }) }
    const page = await server.post<MatchList>("/matches", query)
    for (const { platform, payload } of page.matches) {
      stored[platform as PlatformId].push(Number(/event (\d+)/.exec(JSON.stringify(payload))?.[1]))
    }
    for (const { platform, gaps: reported } of page.coverage.platforms) {
      for (const { from, to, cause, recovered } of reported) {
        gaps.set(`${platform} ${from}`, {
          platform: platform as PlatformId,
          from: Date.parse(from),
          to: to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to),
          cause,
          isRecovered: recovered
        })
      }
    }
    cursor = page.next_cursor
  } while (cursor !== undefined)
  return { stored, gaps: [...gaps.values()] }
}
