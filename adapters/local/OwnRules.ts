/** Matches the events that an account sends against its own rules only: the rules of other accounts cost it nothing. */
import { Effect, Option } from "effect"
import type { NamedRules } from "../../core/engine/NamedRules.ts"
import type { StoreUnavailable } from "../../core/model/Errors.ts"
import type { AccountId } from "../../core/model/Ids.ts"
import type { PlatformEvent } from "../../core/syntax/expression/eventFields.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import type { Turns } from "../../core/work/turns.ts"

/** Ids of the rules that an event meets. */
export type Matching = (event: PlatformEvent) => Turns<ReadonlyArray<string>>

export interface OwnRulesOptions {
  /** The rules of all accounts. Used for an account that owns all of them. */
  readonly all: NamedRules
  /** What the platform holds: texts by platform rule id. */
  readonly held: ReadonlyMap<string, string>
  readonly idOf: (text: string) => string
  readonly parse: (platformRuleId: string) => Expression | undefined
  /** Like `parse`, for a rule that the engine left undecided. */
  readonly expressionOf: (platformRuleId: string) => Expression | undefined
  readonly emptyRules: () => NamedRules
  /** See `RuleStore.textsOf`. */
  readonly textsOf: (
    account: AccountId,
    among: Option.Option<ReadonlyArray<string>>
  ) => Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
}

/**
 * Each account that sends events gets an engine of its own, made at its first event. A registration does not say whose
 * it is, so the store is asked for the texts that were registered since the account's last event. It knows the owner of
 * a text before the text is registered. Ids that the account no longer has stay until they are unregistered: they only
 * cost the account time, because matches are made for the rules in the store.
 */
export class OwnRules {
  private readonly options: OwnRulesOptions
  /** The least recently used first. */
  private readonly senders = new Map<AccountId, Sender>()
  /** The texts registered last, also those that were held already: another account may have them now. */
  private recent: Array<string> = []
  /** How many were registered before those. */
  private forgotten = 0

  constructor(options: OwnRulesOptions) {
    this.options = options
  }

  registered(text: string): void {
    if (this.recent.push(text) <= 2 * MAX_RECENT) return
    this.recent = this.recent.slice(MAX_RECENT)
    this.forgotten += MAX_RECENT
  }

  unregistered(platformRuleId: string): void {
    for (const { ids, engine } of this.senders.values()) {
      ids.delete(platformRuleId)
      engine?.missing.delete(platformRuleId)
      engine?.rules.delete(platformRuleId)
    }
  }

  /**
   * Learns which of the rules that were registered since the last call are the account's. Returns what matches one event:
   * the ids of the matching rules. It also works if the account was forgotten meanwhile.
   */
  prepare(account: AccountId): Effect.Effect<Matching, StoreUnavailable> {
    return Effect.suspend(() => {
      const sender = this.senderOf(account)
      const matching = (event: PlatformEvent) => this.match(sender, event)
      const { forgotten, recent } = this
      const known = forgotten + recent.length
      if (sender.known === known) return Effect.succeed(matching)
      const among =
        sender.known < forgotten ? Option.none() : Option.some([...new Set(recent.slice(sender.known - forgotten))])
      return Effect.map(this.options.textsOf(account, among), (texts) => {
        for (const text of texts) this.add(sender, this.options.idOf(text))
        sender.known = Math.max(sender.known, known)
        return matching
      })
    })
  }

  private *match(sender: Sender, event: PlatformEvent): Turns<ReadonlyArray<string>> {
    const { all, held, expressionOf } = this.options
    if (sender.ids.size === 0) return []
    if (sender.ids.size === held.size) {
      sender.engine = undefined
      return yield* all.matchInTurns(event, expressionOf)
    }
    return yield* (yield* this.rulesOf(sender)).matchInTurns(event, expressionOf)
  }

  private senderOf(account: AccountId): Sender {
    const sender = this.senders.get(account) ?? { known: -1, ids: new Set(), engine: undefined }
    this.senders.delete(account)
    this.senders.set(account, sender)
    const [oldest] = this.senders.keys()
    if (this.senders.size > MAX_SENDERS && oldest !== undefined) this.senders.delete(oldest)
    return sender
  }

  private add(sender: Sender, platformRuleId: string): void {
    // It may have been unregistered while the store was asked.
    if (!this.options.held.has(platformRuleId) || sender.ids.has(platformRuleId)) return
    sender.ids.add(platformRuleId)
    sender.engine?.missing.add(platformRuleId)
  }

  /** Several events of the account may fill its engine at the same time. */
  private *rulesOf(sender: Sender): Turns<NamedRules> {
    sender.engine ??= { rules: this.options.emptyRules(), missing: new Set(sender.ids) }
    const { rules, missing } = sender.engine
    for (const id of missing) {
      missing.delete(id)
      const expression = this.options.parse(id)
      if (expression !== undefined) rules.set(id, expression)
      yield
    }
    return rules
  }
}

// ---- helpers ----

interface Sender {
  /** How many of the registered texts it was asked for. */
  known: number
  /** Platform rule ids. */
  readonly ids: Set<string>
  /** Made when it is needed: some megabytes. `missing`: those of `ids` that are not in it yet. */
  engine: { readonly rules: NamedRules; readonly missing: Set<string> } | undefined
}

/** Of more texts, those of the account are read from the store again. */
const MAX_RECENT = 1_000

/** Accounts with an engine of their own. */
const MAX_SENDERS = 100
