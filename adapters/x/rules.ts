/** The rules of this deployment on X: registered, removed and listed. */
import { Effect, Either, Option } from "effect"
import type { Inventory, Platform, PlatformFailure, Registered, RuleRefusal } from "../../core/platforms/Platform.ts"
import type { KnownRules } from "../http/KnownRules.ts"
import { type Added, type Api, inParts, MOST_AT_ONCE, unreadable, type XRule } from "./api.ts"

/** `tag`: what our rules carry. `known`: kept up to date. */
export const makeRules = (options: {
  readonly api: Api
  readonly known: KnownRules
  readonly tag: string
}): Pick<Platform, "verify" | "register" | "unregister" | "inventory"> => {
  const { api, known, tag } = options

  const register = (texts: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const outcomes = new Outcomes(known)
      let pending: ReadonlyArray<string> = [...new Set(texts)]
      let size = MOST_AT_ONCE
      while (pending.length > 0) {
        const batch = pending.slice(0, size)
        const added = yield* eitherWay(api.add(batch, { tag, isDryRun: false }))
        if (Either.isRight(added)) {
          yield* settle(outcomes, batch, added.right)
        } else if (batch.length === 1 && added.left._tag === "PlatformRefused") {
          outcomes.refuse(batch, added.left)
          size = MOST_AT_ONCE
        } else if (added.left._tag === "PlatformRefused") {
          // One of them is to blame, and X does not say which.
          size = Math.ceil(batch.length / 2)
        } else if (!outcomes.take(pending, yield* api.list)) {
          // What is there already needs no room; what is left does.
          const room = batch.length === 1 ? 0 : yield* roomFor(batch.length)
          if (room === 0) outcomes.refuse(pending, added.left)
          else size = room
        }
        pending = pending.filter((text) => !outcomes.has(text))
      }
      return outcomes.of(texts)
    })

  /** Fails when X says nothing about any of them, and holds none. */
  const settle = (outcomes: Outcomes, batch: ReadonlyArray<string>, added: Added) =>
    Effect.gen(function* () {
      for (const [text, refusal] of added.refused) outcomes.refuse([text], refusal)
      const there = yield* api.find([...added.duplicates.values()])
      const byId = new Map(there.map((rule) => [rule.id, rule]))
      for (const [text, id] of added.duplicates) {
        const rule = byId.get(id)
        if (rule !== undefined) outcomes.register(text, rule)
      }
      outcomes.take(batch, added.created)
      // Where one that is not valid keeps back all others, those are added again without it.
      if (batch.some((text) => outcomes.has(text)) || outcomes.take(batch, yield* api.list)) return
      return yield* unreadable("it does not say what became of the rules")
    })

  /** How many of so many X has room for, of which it has said that they are too many. */
  const roomFor = (wanted: number) =>
    Effect.map(api.counts, ({ room }) =>
      room === undefined || room >= wanted ? Math.floor(wanted / 2) : Math.floor(room)
    )

  const verify = (text: string) =>
    Effect.map(eitherWay(api.add([text], { tag, isDryRun: true })), (added) =>
      Either.flatMap(added, ({ refused }) => {
        const refusal = refused.get(text)
        return refusal === undefined ? Either.void : Either.left(refusal)
      })
    )

  const unregister = (platformRuleIds: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      // X deletes by id whoever made the rule, and some of these may be other people's that we share.
      const ours = (yield* api.find(platformRuleIds)).filter((rule) => rule.tag === tag).map(({ id }) => id)
      yield* Effect.forEach(inParts(ours, MOST_AT_ONCE), (ids) => api.remove(ids), { discard: true })
      known.delete(platformRuleIds)
    })

  const inventory = Effect.gen(function* () {
    const rules = (yield* api.list).map((rule) => ({ ...registeredAs(rule), isOurs: rule.tag === tag }))
    known.replace(rules)
    const counts = yield* Effect.option(api.counts)
    const usage = yield* Effect.option(api.usage)
    const found: Inventory = {
      rules,
      ruleLimit: Option.flatMap(counts, ({ limit }) => Option.fromNullable(limit)),
      usage: Option.flatMap(usage, Option.fromNullable)
    }
    return found
  })

  return { verify, register, unregister, inventory }
}

// ---- helpers ----

const registeredAs = ({ id, value }: XRule): Registered => ({ platformRuleId: id, translatedValue: value })

/** A refusal is an answer, not a failure. */
const eitherWay = <A>(
  effect: Effect.Effect<A, PlatformFailure | RuleRefusal>
): Effect.Effect<Either.Either<A, RuleRefusal>, PlatformFailure> =>
  Effect.matchEffect(effect, {
    onSuccess: (answer) => Effect.succeed(Either.right(answer)),
    onFailure: (error) =>
      error._tag === "PlatformRefused" || error._tag === "PlatformLimitReached"
        ? Effect.succeed(Either.left(error))
        : Effect.fail(error)
  })

/** What became of each text. */
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
    this.known.add([rule.id])
  }

  refuse(texts: ReadonlyArray<string>, refusal: RuleRefusal): void {
    for (const text of texts) this.byText.set(text, Either.left(refusal))
  }

  /** Registers those of the texts that are among the rules; true when there was one. By value: X keeps no order. */
  take(texts: ReadonlyArray<string>, rules: ReadonlyArray<XRule>): boolean {
    const byValue = new Map(rules.map((rule) => [rule.value, rule]))
    const found = texts.flatMap((text) => {
      const rule = byValue.get(text)
      return rule === undefined ? [] : [{ text, rule }]
    })
    for (const { text, rule } of found) this.register(text, rule)
    return found.length > 0
  }
}
