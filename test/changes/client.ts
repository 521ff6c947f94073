/** The API of a service that may be killed at any time. */
import type { MatchList } from "../../core/matches/Matches.ts"
import type { Rule, RuleVersion } from "../../core/rules/Rule.ts"
import type { PlatformId } from "../../fixtures/languages.ts"
import { KEY } from "../program.ts"
import type { Facts, Gap, StoredMatch } from "./oracle.ts"

/** An answer with an error. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export class Client {
  private readonly url: string

  constructor(url: string) {
    this.url = url
  }

  async rule(id: string): Promise<Rule> {
    const { rule } = await this.ask<{ rule: Rule }>(`/api.GetRule?rule_id=${id}`)
    return rule
  }

  /** Oldest first. */
  async versions(id: string): Promise<ReadonlyArray<RuleVersion>> {
    const { versions } = await this.ask<{ versions: ReadonlyArray<RuleVersion> }>(`/api.ListRuleVersions?rule_id=${id}`)
    return versions.toReversed()
  }

  async listed(id: string): Promise<Pick<Facts, "matches" | "gaps">> {
    const matches: Array<StoredMatch> = []
    const gaps = new Map<string, Gap>()
    let cursor: string | undefined
    do {
      const query = { rule_id: id, limit: 500, ...(cursor !== undefined && { cursor }) }
      const page = await this.ask<MatchList>("/matches", query)
      matches.push(...page.matches.map(toStored))
      for (const { platform, gaps: reported } of page.coverage.platforms) {
        for (const gap of reported) gaps.set(`${platform} ${gap.from} ${gap.cause}`, toGap(platform, gap))
      }
      cursor = page.next_cursor
    } while (cursor !== undefined)
    return { matches, gaps: [...gaps.values()] }
  }

  /** Without a body it is a GET. */
  async ask<A>(path: string, body?: object): Promise<A> {
    const response = await fetch(`${this.url}${path}`, {
      // The server may close a connection that is kept open just when the next request uses it.
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", connection: "close" },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (!response.ok) throw new Refused(response.status, `${path} answered ${response.status}: ${text}`)
    // The API's own tests check its shape.
    return JSON.parse(text) as A
  }
}

// ---- helpers ----

const toStored = ({
  platform,
  payload,
  rule_version,
  reapplied
}: Pick<MatchList["matches"][number], "platform" | "payload" | "rule_version" | "reapplied">): StoredMatch => ({
  platform: platform as PlatformId,
  number: Number(/event (\d+)/.exec(JSON.stringify(payload))?.[1]),
  version: rule_version,
  isReapplied: reapplied === true
})

const toGap = (
  platform: string,
  { from, to, cause, recovered }: MatchList["coverage"]["platforms"][number]["gaps"][number]
): Gap => ({
  platform: platform as PlatformId,
  from: Date.parse(from),
  to: to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to),
  cause,
  isRecovered: recovered
})
