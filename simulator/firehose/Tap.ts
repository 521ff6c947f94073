/** One tap: its rules, and the matches kept for replay. */
import { NamedRules } from "../../core/engine/NamedRules.ts"
import type { PlatformEvent } from "../../core/syntax/expression/eventFields.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import type { JsonObject } from "../../core/text/json.ts"
import type { SentEvent } from "../Deliveries.ts"
import { passesFlags, type RuleFlags } from "./quality.ts"

export interface FirehoseRule extends RuleFlags {
  readonly id: string
  readonly value: string
  readonly tag?: string
}

export interface Match {
  readonly offset: number
  readonly at: number
  readonly json: string
  /** For the log of deliveries. */
  readonly sent: Omit<SentEvent, "event">
  /** Only the first delivery is charged. */
  isPaid: boolean
}

export class Tap {
  readonly id: string
  /** Undefined for the initial tap, whose token is a setting. */
  readonly token: string | undefined
  readonly createdAt: number
  name: string
  isPaused = false
  lastUsedAt: number | undefined
  readonly rules = new Map<string, FirehoseRule>()
  /** Oldest first. */
  readonly matches: Array<Match> = []
  private readonly engine = new NamedRules({ seed: 1 })

  constructor(options: { readonly id: string; readonly name: string; readonly token?: string; readonly now: number }) {
    this.id = options.id
    this.name = options.name
    this.token = options.token
    this.createdAt = options.now
  }

  setRule(rule: FirehoseRule, expression: Expression): void {
    this.rules.set(rule.id, rule)
    this.engine.set(rule.id, expression)
  }

  deleteRule(id: string): boolean {
    this.engine.delete(id)
    return this.rules.delete(id)
  }

  dropRules(): void {
    for (const id of [...this.rules.keys()]) this.deleteRule(id)
  }

  /** Ids of the rules that match a page, in order of creation. */
  match(event: PlatformEvent, document: JsonObject, options: Parameters<typeof passesFlags>[2]): ReadonlyArray<string> {
    if (this.isPaused) return []
    const matched = new Set(this.engine.match(event))
    return [...this.rules.values()]
      .filter((rule) => matched.has(rule.id) && passesFlags(rule, document, options))
      .map(({ id }) => id)
  }

  /** Drops expired matches and returns the rest. */
  keptMatches(now: number, retentionMillis: number): ReadonlyArray<Match> {
    while (this.matches.length > MAX_MATCHES || (this.matches[0]?.at ?? now) < now - retentionMillis)
      this.matches.shift()
    return this.matches
  }
}

// ---- helpers ----

const MAX_MATCHES = 100_000
