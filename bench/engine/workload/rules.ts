/** Rules as users write them. The words of a rule come from one topic, so that they occur together. */

import type { Random } from "../../../fixtures/distributions.ts"
import { CATEGORIES, PAGE_LANGUAGES, RATINGS, SITES, TYPES } from "./pages.ts"
import { AUTHORS, FOLLOWERS, HASHTAGS, HOSTS, hashtagAt, LANGUAGES } from "./posts.ts"
import { and, field, not, or, phrase, type Rule, word } from "./rule.ts"
import { drawTopic, type Topic, topicWord } from "./topics.ts"
import { accountAt, hostAt, NAMES, nameAt, WORDS, wordAt } from "./words.ts"

export const makeRule = (random: Random, fields: FieldRules, narrowness: Selectivity): Rule => {
  const draft = new Draft(random, fields, narrowness)
  let left = random.next() * 100
  for (const [share, make] of KINDS) {
    left -= share
    if (left < 0) return make(draft)
  }
  return draft.word()
}

/** Users with many rules write more selective ones. */
export interface Selectivity {
  /** Rank of the most frequent word that a rule may depend on. */
  readonly rarity: number
  /** Share of names among these words. */
  readonly names: number
}

/** Clauses on the fields of a workload's events. */
export interface FieldRules {
  readonly language: (random: Random) => Rule
  /** An account or site: a rule on its own. */
  readonly origin: (random: Random, rarity: number) => Rule
  /** A hashtag, link or label, combined with a word where the field alone is too broad. */
  readonly label: (random: Random, some: Rule) => Rule
  readonly reach: (random: Random) => Rule
}

export const postFields: FieldRules = {
  language: (random) => field("lang", random.chance(0.6) ? "en" : random.pick(LANGUAGES)),
  origin: (random, rarity) => field("from", accountAt(random.magnitude(rarity / 2, AUTHORS))),
  label: (random, some) => {
    switch (random.below(5)) {
      case 0:
      case 1:
        return field("hashtag", hashtagAt(random.magnitude(1_000, HASHTAGS)))
      case 2:
        return field("mention", accountAt(random.magnitude(1_000, AUTHORS)))
      case 3:
        return and(field("url", hostAt(random.below(HOSTS))), some)
      default:
        return and(some, random.chance(0.5) ? field("has", "media") : not(field("is", "retweet")))
    }
  },
  reach: (random) => field("followers", String(random.pick(FOLLOWERS)))
}

export const pageFields: FieldRules = {
  language: (random) => field("language", random.chance(0.6) ? "en" : random.pick(PAGE_LANGUAGES)),
  origin: (random, rarity) => field("domain", hostAt(random.magnitude(rarity / 2, SITES))),
  label: (random, some) =>
    and(some, random.chance(0.5) ? field("category", random.pick(CATEGORIES)) : field("type", random.pick(TYPES))),
  reach: (random) => field("rating", String(random.pick(RATINGS)))
}

// ---- helpers ----

/** Generates the parts of one rule. */
class Draft {
  readonly random: Random
  readonly fields: FieldRules
  readonly selectivity: Selectivity
  private readonly topic: Topic

  constructor(random: Random, fields: FieldRules, narrowness: Selectivity) {
    this.random = random
    this.fields = fields
    this.selectivity = narrowness
    this.topic = drawTopic(random)
  }

  /** Rare enough to be a rule on its own. */
  word(): Rule {
    const { rarity, names } = this.selectivity
    return word(
      this.random.chance(names) ? nameAt(this.random.below(NAMES)) : wordAt(this.random.magnitude(rarity, WORDS))
    )
  }

  /** One of many alternatives, each rarer than a single word. */
  alternative(): Rule {
    const { rarity, names } = this.selectivity
    const isName = this.random.chance((1 + names) / 2)
    return word(
      isName ? nameAt(this.random.below(NAMES)) : wordAt(this.random.magnitude(Math.min(rarity * 8, WORDS / 2), WORDS))
    )
  }

  /** Words of a topic often occur together. */
  topical(): Rule {
    return word(topicWord(this.random, this.topic))
  }

  /** Without duplicates. */
  many(least: number, most: number, make: () => Rule): ReadonlyArray<Rule> {
    const found = new Map<string, Rule>()
    const count = this.random.between(least, most)
    while (found.size < count) {
      const rule = make()
      found.set(JSON.stringify(rule), rule)
    }
    return [...found.values()]
  }

  phrase(): Rule {
    const isKnown = this.random.chance(0.5)
    return phrase(
      isKnown
        ? this.random.pick(this.topic.collocations).map(wordAt)
        : [topicWord(this.random, this.topic), topicWord(this.random, this.topic)]
    )
  }

  frequent(): Rule {
    return word(wordAt(this.random.magnitude(50, 5_000)))
  }

  sometimes(share: number, make: () => Rule): ReadonlyArray<Rule> {
    return this.random.chance(share) ? [make()] : []
  }

  language(): Rule {
    return this.fields.language(this.random)
  }
}

const conjunction = (draft: Draft): Rule => {
  // Two words of a topic often occur together; three or four rarely.
  const [first, ...others] = draft.many(2, 4, () => draft.topical())
  const anchor = draft.random.chance(0.5) ? first : draft.word()
  return and(anchor ?? draft.word(), ...others, ...draft.sometimes(0.25, () => draft.language()))
}

const alternatives = (draft: Draft): Rule => {
  const list = or(...draft.many(2, 20, () => draft.alternative()))
  const beside = draft.sometimes(0.5, () => (draft.random.chance(0.5) ? draft.language() : draft.frequent()))
  return beside.length === 0 ? list : and(list, ...beside)
}

const nested = (draft: Draft): Rule =>
  and(
    or(...draft.many(2, 2, () => draft.topical()), draft.phrase()),
    or(...draft.many(2, 2, () => draft.word())),
    not(draft.frequent()),
    draft.language(),
    ...draft.sometimes(0.5, () => draft.fields.reach(draft.random))
  )

const prefixed = (draft: Draft): Rule =>
  and({ op: "prefix", prefix: wordAt(draft.random.magnitude(20_000, WORDS)).slice(0, 4) }, draft.topical())

/** Percent of all rules. */
const KINDS: ReadonlyArray<readonly [share: number, make: (draft: Draft) => Rule]> = [
  [12, (draft) => draft.word()],
  [28, conjunction],
  [12, (draft) => draft.phrase()],
  [12, alternatives],
  [10, (draft) => and(draft.word(), ...draft.many(1, 3, () => draft.frequent()).map(not))],
  [8, ({ fields, random, selectivity }) => fields.origin(random, selectivity.rarity)],
  [6, (draft) => draft.fields.label(draft.random, draft.word())],
  [8, nested],
  [2.5, prefixed],
  [
    1.5,
    (draft) =>
      or(
        and(...draft.many(2, 2, () => draft.topical())),
        and(...draft.many(2, 2, () => draft.topical())),
        draft.phrase()
      )
  ]
]
