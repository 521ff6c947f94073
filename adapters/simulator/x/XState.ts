/** The state of X: the rules of the one app, the open streams, what was published and what was read. */
import { Either } from "effect"
import { NamedRules } from "../../../core/engine/NamedRules.ts"
import type { Expression } from "../../../core/syntax/expression/expression.ts"
import type { JsonObject } from "../../../core/syntax/json.ts"
import { xEvent } from "../../../core/syntax/x/event.ts"
import * as Language from "../../../core/syntax/x/language.ts"
import { risingIds } from "../../demo/addresses.ts"
import { refusing } from "../refusing.ts"
import type { World } from "../World.ts"
import { planOf } from "./plan.ts"
import { detailsOf } from "./ruleErrors.ts"
import { Usage } from "./Usage.ts"
import type { XConnection } from "./XConnection.ts"

export interface XRule {
  readonly id: string
  readonly value: string
  readonly tag?: string
  readonly canonical: string
  readonly activeAt: number
}

/** A post that met rules when it was published. */
export interface Published {
  readonly id: string
  readonly at: number
  readonly payload: JsonObject
  readonly matchingRules: ReadonlyArray<{ readonly id: string; readonly tag?: string }>
}

/** A rule text that X takes, or why not. */
export type Examined =
  | { readonly canonical: string; readonly expression: Expression }
  | { readonly details: ReadonlyArray<string> }

export class XState {
  readonly world: World
  readonly rules = new Map<string, XRule>()
  readonly connections: Array<XConnection> = []
  readonly usage: Usage
  /** Of the last 24 hours, oldest first. */
  readonly history: Array<Published> = []
  published = 0
  private readonly engine = new NamedRules({ seed: 1 })
  private readonly idAt = risingIds()

  constructor(world: World) {
    this.world = world
    this.usage = new Usage(world)
  }

  /** The cap, which a fault may have lowered. */
  ruleCap(now: number): { readonly cap: number; readonly isLowered: boolean } {
    const { ruleCap } = planOf(this.world.settings)
    const lowered = this.world.faults.peek("lower-caps", { platform: "x", now })?.rules
    return lowered !== undefined && lowered < ruleCap
      ? { cap: lowered, isLowered: true }
      : { cap: ruleCap, isLowered: false }
  }

  connectionCap(now: number): { readonly cap: number; readonly isLowered: boolean } {
    const { connectionCap } = planOf(this.world.settings)
    const lowered = this.world.faults.peek("lower-caps", { platform: "x", now })?.connections
    return lowered !== undefined && lowered < connectionCap
      ? { cap: lowered, isLowered: true }
      : { cap: connectionCap, isLowered: false }
  }

  examine(value: string): Examined {
    const { settings } = this.world
    const { maxRuleLength } = planOf(settings)
    const pairs = settings.x.length_counts === "utf-16" ? 0 : value.length - Array.from(value).length
    const { rule, issues } = Language.check(value, { maxLength: maxRuleLength + pairs })
    const refused = refusing(issues, settings.x.refused_warnings)
    return rule === undefined || refused.length > 0
      ? { details: detailsOf(value, refused, maxRuleLength) }
      : { canonical: Language.print(rule.ast), expression: Language.lower(rule.ast) }
  }

  newRuleId(now: number): string {
    return String(this.idAt(now))
  }

  addRule(rule: XRule, expression: Expression): void {
    this.rules.set(rule.id, rule)
    this.engine.set(rule.id, expression)
  }

  deleteRule(id: string): boolean {
    if (!this.rules.delete(id)) return false
    this.engine.delete(id)
    this.world.changed()
    return true
  }

  dropRules(): void {
    for (const id of [...this.rules.keys()]) this.deleteRule(id)
  }

  /** Left says why it is no post. Right is the number of rules that it meets. */
  publish(payload: JsonObject, now: number): Either.Either<number, string> {
    return Either.map(xEvent(payload), (event) => {
      this.published++
      const met = this.engine
        .match(event)
        .flatMap((id) => this.rules.get(id) ?? [])
        .filter(({ activeAt }) => activeAt <= now)
        .sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
      if (met.length === 0) return 0
      const matchingRules = met.map(({ id, tag }) => ({ id, ...(tag !== undefined && { tag }) }))
      const post = { id: event.id, at: now, payload, matchingRules }
      this.keep(post, now)
      for (const connection of this.open()) connection.offer(post)
      return met.length
    })
  }

  open(): ReadonlyArray<XConnection> {
    return this.connections.filter(({ isOpen }) => isOpen)
  }

  /** Closed ones stay listed for a while. */
  remember(connection: XConnection): void {
    this.connections.push(connection)
    const closed = this.connections.findIndex(({ isOpen }) => !isOpen)
    if (this.connections.length > MOST_LISTED && closed >= 0) this.connections.splice(closed, 1)
  }

  /** Slots of the live stream that are taken, by clients that went away too. */
  takenSlots(now: number): number {
    return this.connections.filter((connection) => !connection.isRecovery && connection.holdsSlot(now)).length
  }

  private keep(post: Published, now: number): void {
    this.history.push(post)
    while (this.history.length > MOST_KEPT || (this.history[0]?.at ?? now) < now - DAY) this.history.shift()
  }
}

// ---- helpers ----

const DAY = 86_400_000
const MOST_KEPT = 100_000
const MOST_LISTED = 1_000
