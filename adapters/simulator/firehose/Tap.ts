/** One tap: its rules, and its matches as far back as they are kept. */
import { NamedRules } from "../../../core/engine/NamedRules.ts"
import type { PlatformEvent } from "../../../core/syntax/expression/eventFields.ts"
import type { Expression } from "../../../core/syntax/expression/expression.ts"
import type { JsonObject } from "../../../core/syntax/json.ts"
import { passes } from "./quality.ts"

export interface FirehoseRule {
  readonly id: string
  readonly value: string
  readonly tag?: string
  readonly nsfw: boolean
  readonly quality: boolean
}

/** A match as it is sent, however often. */
export interface Match {
  readonly offset: number
  readonly at: number
  readonly json: string
  /** Delivered once: the next time is free. */
  isPaid: boolean
}

export class Tap {
  readonly id: string
  /** Undefined for the tap whose token is a setting. */
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

  /** The rules that a page meets, in the order in which they were made. */
  met(event: PlatformEvent, document: JsonObject, options: Parameters<typeof passes>[2]): ReadonlyArray<string> {
    if (this.isPaused) return []
    const names = new Set(this.engine.match(event))
    return [...this.rules.values()]
      .filter((rule) => names.has(rule.id) && passes(rule, document, options))
      .map(({ id }) => id)
  }

  /** Those that are still kept. */
  kept(now: number, retentionMillis: number): ReadonlyArray<Match> {
    while (this.matches.length > MOST_KEPT || (this.matches[0]?.at ?? now) < now - retentionMillis) this.matches.shift()
    return this.matches
  }
}

// ---- helpers ----

const MOST_KEPT = 100_000
