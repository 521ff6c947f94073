/** Registers, removes and lists this deployment's rules on X. */
import { Array as Arr, Clock, Effect, Either, Option } from "effect"
import type { Inventory, Platform, PlatformFailure, Registered, RuleRefusal } from "../../core/platforms/Platform.ts"
import { counted } from "../../core/text/counted.ts"
import type { KnownRules } from "../http/KnownRules.ts"
import type { OwnTags } from "../http/OwnTags.ts"
import { type AddResult, type Api, MAX_BATCH, unavailable, type XRule } from "./api.ts"
import type { Plan } from "./Plan.ts"

/** `tags` mark our rules on X. `known` is updated with every change, `plan` with every inventory. */
export const makeRules = (options: {
  readonly api: Api
  readonly known: KnownRules
  readonly plan: Plan
  readonly tags: OwnTags
}): Pick<Platform, "verify" | "register" | "unregister" | "inventory"> => {
  const { api, known, plan, tags } = options

  const register = (texts: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const outcomes = new Outcomes(known)
      let pending: ReadonlyArray<string> = [...new Set(texts)]
      let size = MAX_BATCH
      const tag = yield* tags.next
      while (pending.length > 0) {
        const batch = pending.slice(0, size)
        const added = yield* refusalAsEither(api.add(batch, { tag, isDryRun: false }))
        if (Either.isRight(added)) {
          yield* settle(outcomes, batch, added.right)
        } else if (batch.length === 1 && added.left._tag === "PlatformRefused") {
          outcomes.refuse(batch, added.left)
          size = MAX_BATCH
        } else if (added.left._tag === "PlatformRefused") {
          // X does not say which rule is wrong: bisect.
          size = Math.ceil(batch.length / 2)
        } else if (!outcomes.registerListed(pending, yield* api.list)) {
          // None of the rules exists yet, so each needs a free slot.
          const fitting = batch.length === 1 ? 0 : yield* fittingOf(batch.length)
          if (fitting === 0) outcomes.refuse(pending, added.left)
          else size = fitting
        }
        pending = pending.filter((text) => !outcomes.has(text))
      }
      return outcomes.of(texts)
    })

  /** Fails when X reports no outcome for the whole batch and lists none of its rules. */
  const settle = (outcomes: Outcomes, batch: ReadonlyArray<string>, added: AddResult) =>
    Effect.gen(function* () {
      for (const [text, refusal] of added.refused) outcomes.refuse([text], refusal)
      const existing = yield* api.find([...added.duplicates.values()])
      const byId = new Map(existing.map((rule) => [rule.id, rule]))
      for (const [text, id] of added.duplicates) {
        const rule = byId.get(id)
        if (rule !== undefined) outcomes.register(text, rule)
      }
      outcomes.registerListed(batch, added.created)
      // One invalid rule can block the rest of its batch: the caller adds the rest again without it.
      if (batch.some((text) => outcomes.has(text)) || outcomes.registerListed(batch, yield* api.list)) return
      return yield* unavailable("its response does not mention the rules")
    })

  /** How many of `wanted` rules to try next, after X refused that many as too many. */
  const fittingOf = (wanted: number) =>
    Effect.map(api.counts, ({ remaining }) =>
      remaining === undefined || remaining >= wanted ? Math.floor(wanted / 2) : Math.floor(remaining)
    )

  const verify = (text: string) =>
    Effect.map(refusalAsEither(api.add([text], { tag: tags.deployment, isDryRun: true })), (added) =>
      Either.flatMap(added, ({ refused }) => {
        const refusal = refused.get(text)
        return refusal === undefined ? Either.right("confirmed" as const) : Either.left(refusal)
      })
    )

  const unregister = (platformRuleIds: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      // X deletes any rule by id. Some of these may belong to others: equal texts share one rule.
      const originOf = yield* tags.origins
      const ours = (yield* api.find(platformRuleIds)).filter(({ tag }) => originOf(tag).isOurs).map(({ id }) => id)
      const kept = new Set<string>()
      for (const ids of Arr.chunksOf(ours, MAX_BATCH)) {
        for (const id of yield* remove(ids)) kept.add(id)
      }
      known.delete(platformRuleIds.filter((id) => !kept.has(id)))
      if (kept.size > 0) {
        return yield* unavailable(`it did not delete ${kept.size} of ${counted(ours.length, "rule")}`)
      }
    })

  /** Returns the rules that X did not delete. */
  const remove = (ids: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      if (yield* api.remove(ids)) return []
      // X also reports rules as not deleted that were gone before.
      return (yield* api.find(ids)).map(({ id }) => id)
    })

  /** Read at most every two minutes: X allows few calls. */
  let figures = { readAt: Number.NEGATIVE_INFINITY, ruleLimit: Option.none<number>(), usage: noUsage }
  const readFigures = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (now - figures.readAt < FIGURES_MILLIS) return figures
    const counts = yield* Effect.option(api.counts)
    const rulesPerProject = Option.getOrUndefined(counts)?.projectLimit
    if (rulesPerProject !== undefined) plan.learn(rulesPerProject)
    const usage = yield* Effect.option(api.usage)
    figures = {
      readAt: now,
      ruleLimit: Option.flatMap(counts, ({ limit }) => Option.fromNullable(limit)),
      usage: Option.flatMap(usage, Option.fromNullable)
    }
    return figures
  })

  const inventory = Effect.gen(function* () {
    const listed = yield* api.list
    // After the list: what another server has registered meanwhile is then known.
    const originOf = yield* tags.origins
    const rules = listed.map((rule) => ({ ...registeredAs(rule), ...originOf(rule.tag) }))
    known.replace(rules)
    const { ruleLimit, usage } = yield* readFigures
    return { rules, ruleLimit, usage }
  })

  return { verify, register, unregister, inventory }
}

// ---- helpers ----

const noUsage: Inventory["usage"] = Option.none()

const FIGURES_MILLIS = 2 * 60_000

const registeredAs = ({ id, value }: XRule): Registered => ({ platformRuleId: id, translatedValue: value })

const refusalAsEither = <A>(
  effect: Effect.Effect<A, PlatformFailure | RuleRefusal>
): Effect.Effect<Either.Either<A, RuleRefusal>, PlatformFailure> =>
  Effect.matchEffect(effect, {
    onSuccess: (answer) => Effect.succeed(Either.right(answer)),
    onFailure: (error) =>
      error._tag === "PlatformRefused" || error._tag === "PlatformLimitReached"
        ? Effect.succeed(Either.left(error))
        : Effect.fail(error)
  })

/** The outcome per rule text. */
class Outcomes {
  private readonly known: KnownRules
  private readonly byText = new Map<string, Either.Either<Registered, RuleRefusal>>()

  constructor(known: KnownRules) {
    this.known = known
  }

  has(text: string): boolean {
    return this.byText.has(text)
  }

  of(texts: ReadonlyArray<string>): ReadonlyArray<Either.Either<Registered, RuleRefusal>> {
    return texts.flatMap((text) => this.byText.get(text) ?? [])
  }

  register(text: string, rule: XRule): void {
    this.byText.set(text, Either.right(registeredAs(rule)))
    this.known.add(registeredAs(rule))
  }

  refuse(texts: ReadonlyArray<string>, refusal: RuleRefusal): void {
    for (const text of texts) this.byText.set(text, Either.left(refusal))
  }

  /** Registers the texts that are among the rules; true if there was one. Compares values: X keeps no order. */
  registerListed(texts: ReadonlyArray<string>, rules: ReadonlyArray<XRule>): boolean {
    const byValue = new Map(rules.map((rule) => [rule.value, rule]))
    const found = texts.flatMap((text) => {
      const rule = byValue.get(text)
      return rule === undefined ? [] : [{ text, rule }]
    })
    for (const { text, rule } of found) this.register(text, rule)
    return found.length > 0
  }
}
