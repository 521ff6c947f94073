/** The events of an account are matched with all rules that it has at that time, and with no others. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { v7 } from "uuid"
import { OwnRules } from "../../../adapters/local/OwnRules.ts"
import { NamedRules } from "../../../core/engine/NamedRules.ts"
import { Keys } from "../../../core/keys/Keys.ts"
import { firehose } from "../../../core/languages/firehose.ts"
import { type AccountId, fromUuid } from "../../../core/model/Ids.ts"
import { LocalFeed, sentEvents } from "../../../core/platforms/LocalFeed.ts"
import { Platforms } from "../../../core/platforms/Platform.ts"
import { Rules } from "../../../core/rules/Rules.ts"
import { Shadows } from "../../../core/shadows/Shadows.ts"
import { finish } from "../../../core/work/turns.ts"
import { readEvent } from "../../../fixtures/languages.ts"
import { ann, bob, on } from "../../core/world.ts"
import { serviceOn } from "../../gateway/inProcess.ts"
import { localPlatforms } from "../../platforms.ts"
import { everyStore } from "../../stores.ts"

for (const [name, stores] of everyStore.filter(([store]) => store !== "PGlite")) {
  describe(`The events of an account, on ${name}`, () => {
    it.scopedLive(
      "meet its new, changed, resumed and shadowed rules at once, also with the text of another account",
      () =>
        Effect.gen(function* () {
          const [rules, shadows, feed, keys] = [yield* Rules, yield* Shadows, yield* LocalFeed, yield* Keys]
          const [one, other] = [yield* keys.account("one"), yield* keys.account("other")]
          let posts = 0
          const matches = (account: AccountId, text: string) =>
            Effect.map(
              feed.publish(sentEvents([{ data: { id: String(++posts), text } }]), account),
              (published) => published.matches
            )
          assert.strictEqual(yield* matches(one, "storm"), 0)
          const first = yield* rules.create(one, on("x", "storm"))
          assert.strictEqual(yield* matches(one, "storm"), 1, "it has all rules")
          assert.strictEqual(yield* matches(other, "storm"), 0)
          const second = yield* rules.create(other, on("x", "flood"))
          assert.strictEqual(yield* matches(one, "storm flood"), 1)
          assert.strictEqual(yield* matches(other, "storm flood"), 1)

          const same = yield* rules.create(other, on("x", "storm"))
          assert.strictEqual(yield* matches(other, "storm flood"), 2, "another account has the text already")
          assert.strictEqual(yield* matches(one, "storm flood"), 1)
          yield* rules.delete(one, first.id)
          assert.strictEqual(yield* matches(other, "storm"), 1, "the text stays for the other account")
          assert.strictEqual(yield* matches(one, "storm"), 0)

          const mine = yield* rules.create(one, on("x", "hail"))
          yield* rules.update(one, mine.id, { overrides: { x: "flood" } })
          assert.strictEqual(yield* matches(one, "flood"), 1, "changed to a text of the other account")
          assert.strictEqual(yield* matches(one, "hail"), 0)
          yield* rules.pause(one, mine.id)
          assert.strictEqual(yield* matches(one, "flood"), 0)
          yield* rules.resume(one, mine.id)
          assert.strictEqual(yield* matches(one, "flood"), 1, "resumed")

          yield* shadows.start(one, mine.id, { x: "storm" })
          assert.strictEqual(yield* matches(one, "storm"), 0, "matches of a shadow do not count")
          const compared = yield* shadows.compare(one, { rule_id: mine.id, samples: 1 })
          assert.strictEqual(compared.candidate_only.count, 1, "the shadow has met it")
          yield* shadows.promote(one, mine.id, Option.none())
          assert.strictEqual(yield* matches(one, "storm"), 1, "promoted")

          yield* rules.delete(other, same.id)
          yield* rules.delete(other, second.id)
          assert.strictEqual(yield* matches(one, "storm flood"), 1)
          assert.strictEqual(yield* matches(other, "storm flood"), 0)
        }).pipe(Effect.provide(serviceOn(localPlatforms(), stores)))
    )
  })
}

describe("OwnRules", () => {
  const rule = (text: string) => firehose.check(text).rule?.expression
  const page = (title: string) => {
    const read = readEvent("firehose", { document: { url: "https://example.com", title } }, 0)
    return read._tag === "Right" ? read.right : assert.fail(read.left)
  }

  /** Texts are their own ids. `owned`: the store. */
  const world = (owned: Map<AccountId, Array<string>>) => {
    const all = new NamedRules({ seed: 1 })
    const held = new Map<string, string>()
    const asked: Array<number> = []
    const own = new OwnRules({
      all,
      held,
      idOf: (text) => text,
      parse: rule,
      expressionOf: rule,
      emptyRules: () => new NamedRules({ seed: 1 }),
      textsOf: (account, among) =>
        Effect.sync(() => {
          asked.push(Option.match(among, { onNone: () => -1, onSome: ({ length }) => length }))
          const texts = owned.get(account) ?? []
          return texts.filter((text) => Option.isNone(among) || among.value.includes(text))
        })
    })
    const register = (text: string) => {
      const expression = rule(text)
      if (expression !== undefined) all.set(text, expression)
      held.set(text, text)
      own.registered(text)
    }
    const match = (account: AccountId, title: string) =>
      Effect.map(own.prepare(account), (matching) => [...finish(matching(page(title)))].sort())
    return { own, held, asked, register, match, all }
  }

  it.effect("asks the store only for the texts that were registered since the last event", () =>
    Effect.gen(function* () {
      const owned = new Map([[bob, ["title:cat"]]])
      const { asked, register, match } = world(owned)
      register("title:cat")
      register("title:dog")
      assert.deepStrictEqual(yield* match(bob, "cat dog"), ["title:cat"])
      assert.deepStrictEqual(yield* match(bob, "cat dog"), ["title:cat"])
      assert.deepStrictEqual(asked, [-1])
      owned.get(bob)?.push("title:dog")
      register("title:dog")
      assert.deepStrictEqual(yield* match(bob, "cat dog"), ["title:cat", "title:dog"])
      for (let n = 0; n < 5_000; n++) register(`title:word${n}`)
      assert.deepStrictEqual(yield* match(bob, "cat dog word7"), ["title:cat", "title:dog"])
      assert.deepStrictEqual(asked, [-1, 1, -1], "of too many texts, it asks for those of the account")
    })
  )

  it.effect("does not bring back a rule that is unregistered while the store is asked", () =>
    Effect.gen(function* () {
      const { own, held, register, match } = world(new Map([[ann, ["title:cat", "title:dog"]]]))
      for (const text of ["title:cat", "title:dog", "title:cow"]) register(text)
      held.delete("title:cat")
      own.unregistered("title:cat")
      assert.deepStrictEqual(yield* match(ann, "cat dog cow"), ["title:dog"])
      held.delete("title:dog")
      own.unregistered("title:dog")
      assert.deepStrictEqual(yield* match(ann, "cat dog cow"), [])
    })
  )

  it.effect("matches the event of an account while many others send theirs", () =>
    Effect.gen(function* () {
      const { own, register } = world(new Map([[ann, ["title:cat"]]]))
      for (const text of ["title:cat", "title:dog"]) register(text)
      const matching = yield* own.prepare(ann)
      for (let n = 0; n < 200; n++) yield* own.prepare(fromUuid("acct", v7()))
      assert.deepStrictEqual(finish(matching(page("cat dog"))), ["title:cat"])
    })
  )

  it.effect("fills the engine of an account once, for events that are matched at the same time", () =>
    Effect.gen(function* () {
      const texts = Array.from({ length: 20 }, (_, n) => `title:cat${n}`)
      const { own, register } = world(new Map([[ann, texts]]))
      for (const text of [...texts, "title:foreign"]) register(text)
      const matching = yield* own.prepare(ann)
      const title = texts.map((text) => text.slice("title:".length)).join(" ")
      const [first, second] = [matching(page(title)), matching(page(title))]
      for (let turn = 0; turn < 5; turn++) first.next()
      assert.sameMembers([...finish(second)], texts)
      assert.sameMembers([...finish(first)], texts)
    })
  )
})

describe("a platform that runs in process", () => {
  it.scopedLive("charges shared events to the rules, and sent events to none", () =>
    Effect.gen(function* () {
      const [rules, feed, keys] = [yield* Rules, yield* LocalFeed, yield* Keys]
      const account = yield* keys.account("one")
      const fuzzy = `title:(${Array.from({ length: 50 }, (_, n) => `tesla${n}~2`).join(" OR ")})`
      yield* rules.create(account, on("firehose", fuzzy))
      yield* rules.create(account, on("firehose", "title:storm"))
      const { drainCosts } = yield* (yield* Platforms).get("firehose")
      if (drainCosts === undefined) return assert.fail("It reports no costs")
      const event = { document: { url: "https://example.com", title: `storm ${"word ".repeat(500)}` } }
      yield* feed.publish(sentEvents([event]), account)
      assert.deepStrictEqual(yield* drainCosts, [])
      yield* feed.publish(sentEvents([event]))
      const [dear, cheap] = (yield* drainCosts).toSorted((one, other) => other.seconds - one.seconds)
      assert.strictEqual(dear?.text, fuzzy)
      assert.isAbove(dear?.seconds ?? 0, 10 * (cheap?.seconds ?? 1))
      assert.isAbove(cheap?.seconds ?? 0, 0)
      assert.deepStrictEqual(yield* drainCosts, [])
    }).pipe(Effect.provide(serviceOn(localPlatforms())))
  )
})
