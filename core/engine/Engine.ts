/**
 * Which of very many rules an event meets.
 *
 * A rule is compiled to flat code and hung on its anchors: the rarest terms that an event meeting it cannot lack
 * (`cover.ts`). An event is read once into a small table of its terms (`EventTerms`); each term is looked up among the
 * anchors (`AnchorIndex`), and the code of what hangs there is run. Which terms are rare is learned from the events
 * themselves; rules that hang on a term that turned out common are moved to a better one as the engine runs. Everything
 * is in flat memory that is changed in place (`Pool`): a rule counts from the next event on, and leaves no trace.
 */
import type { EventFields, PlatformEvent } from "../syntax/eventFields.ts"
import type { Expression } from "../syntax/expression.ts"
import { AnchorIndex, LIST_HEAD } from "./AnchorIndex.ts"
import {
  ALWAYS,
  AND,
  asNoAnchor,
  Compiler,
  gramOf,
  isAnchor,
  isNegated,
  leafLengthOf,
  lengthOf,
  OR,
  PHRASE,
  spaceOf,
  TERM,
  TEST,
  tagOf,
  wordCountOf
} from "./code.ts"
import { ANCHOR, Cover } from "./cover.ts"
import { EventTerms } from "./EventTerms.ts"
import { Frequencies } from "./Frequencies.ts"
import { Fingerprints } from "./fingerprints.ts"
import { Pool } from "./Pool.ts"
import { Predicates } from "./Predicates.ts"
import { Review } from "./Review.ts"
import { RuleTable } from "./RuleTable.ts"
import { EVERY_EVENT, Spaces } from "./spaces.ts"

export interface EngineStats {
  readonly rules: number
  /** Rules that have no term to be looked up by: they are run for every event. */
  readonly unindexed: number
  /** Of flat memory. */
  readonly bytes: number
}

/** A program is [rule, event it was run for last], then the code. */
const HEAD = 2

export class Engine {
  /** Postings that the last event led to: what matching it cost beyond reading it. */
  looked = 0
  private readonly fingerprints: Fingerprints
  private readonly spaces = new Spaces()
  private readonly pool = new Pool()
  private readonly index = new AnchorIndex(this.pool)
  private readonly rules = new RuleTable()
  private readonly frequencies = new Frequencies()
  private readonly predicates: Predicates
  private readonly compiler: Compiler
  private readonly cover: Cover
  private readonly terms: EventTerms
  private readonly review = new Review()
  private stamp = 0
  private readonly met: Array<number> = []

  /** The seed draws the keys of the fingerprints: one that callers cannot know keeps them from making words collide. */
  constructor({ seed }: { readonly seed: number }) {
    this.fingerprints = new Fingerprints(seed)
    this.predicates = new Predicates(this.fingerprints)
    this.compiler = new Compiler(this.fingerprints, this.predicates)
    this.cover = new Cover(this.frequencies, this.predicates)
    this.terms = new EventTerms(this.fingerprints)
  }

  get stats(): EngineStats {
    const { pool, index, rules, frequencies, terms } = this
    return {
      rules: rules.count,
      unindexed: this.spaces.usesOf(EVERY_EVENT),
      bytes: pool.bytes + index.bytes + rules.bytes + frequencies.bytes + terms.bytes
    }
  }

  /** The number by which the rule goes from now on. Numbers of removed rules are given again. */
  add(expression: Expression): number {
    const { compiler, pool } = this
    compiler.compile(expression)
    if (this.cover.costOf(compiler.code, 0) === Number.POSITIVE_INFINITY) compiler.requireEveryEvent()
    const { code, length } = compiler
    const rule = this.rules.take()
    const program = pool.take(HEAD + length)
    const words = pool.chunkOf(program)
    const at = pool.offsetOf(program)
    words[at] = rule
    words[at + 1] = 0
    for (let word = 0; word < length; word++) words[at + HEAD + word] = code[word] ?? 0
    this.useSpaces(words, at + HEAD, at + HEAD + length)
    this.hang(program)
    this.rules.set(rule, program)
    return rule
  }

  remove(rule: number): void {
    const program = this.rules.programOf(rule)
    if (program === 0) return
    const words = this.pool.chunkOf(program)
    const start = this.pool.offsetOf(program) + HEAD
    const length = lengthOf(words, start)
    this.unhang(program)
    this.releaseSpaces(words, start, start + length)
    this.pool.giveBack(program, HEAD + length)
    this.rules.giveBack(rule)
  }

  /** Numbers of the rules that the event meets, each once, in no order. Good until the next call. */
  match(event: PlatformEvent): ReadonlyArray<number> {
    this.met.length = 0
    if (this.rules.count === 0) return this.met
    this.terms.read(event, this.spaces)
    this.stamp = this.stamp === 0x7fffffff ? 1 : this.stamp + 1
    const { index, terms, pool } = this
    const { pairs, count } = terms
    let looked = 0
    for (let term = 1; term <= count; term++) {
      const high = pairs[2 * term] ?? 0
      const low = pairs[2 * term + 1] ?? 0
      if (!index.mayHold(high, low)) continue
      const segment = index.segmentOf(high)
      const slot = index.find(segment, high, low)
      if (slot < 0) continue
      const held = segment[slot + 2] ?? 0
      if (held > 0) {
        looked++
        const filter = segment[slot + 3] ?? 0
        if (filter === 0 || terms.mayHave(filter)) this.run(held, event)
        continue
      }
      const list = pool.chunkOf(~held)
      const at = pool.offsetOf(~held)
      looked += list[at] ?? 0
      const end = at + LIST_HEAD + 2 * (list[at] ?? 0)
      for (let posting = at + LIST_HEAD; posting < end; posting += 2) {
        const filter = list[posting + 1] ?? 0
        if (filter === 0 || terms.mayHave(filter)) this.run(list[posting] ?? 0, event)
      }
    }
    this.looked = looked
    this.frequencies.learn(pairs, count)
    this.rehang()
    return this.met
  }

  private run(program: number, event: EventFields): void {
    const words = this.pool.chunkOf(program)
    const at = this.pool.offsetOf(program)
    if (words[at + 1] === this.stamp) return
    words[at + 1] = this.stamp
    if (this.holds(words, at + HEAD, event)) this.met.push(words[at] ?? 0)
  }

  private holds(code: Int32Array, at: number, event: EventFields): boolean {
    const word = code[at] ?? 0
    switch (tagOf(word)) {
      case TERM:
        return this.terms.has(code[at + 1] ?? 0, code[at + 2] ?? 0) !== isNegated(word)
      case PHRASE:
        return this.holdsPhrase(code, at) !== isNegated(word)
      case TEST:
        return this.predicates.holds(code[at + 1] ?? 0, event, this.stamp) !== isNegated(word)
      case AND: {
        const end = at + lengthOf(code, at)
        for (let child = at + 1; child < end; child += lengthOf(code, child)) {
          if (!this.holds(code, child, event)) return false
        }
        return true
      }
      case OR: {
        const end = at + lengthOf(code, at)
        for (let child = at + 1; child < end; child += lengthOf(code, child)) {
          if (this.holds(code, child, event)) return true
        }
        return false
      }
      default:
        return tagOf(word) === ALWAYS
    }
  }

  private holdsPhrase(code: Int32Array, at: number): boolean {
    const { terms } = this
    const end = at + lengthOf(code, at)
    const first = terms.termOf(code[at + 1] ?? 0, code[at + 2] ?? 0)
    for (let place = terms.lastPlaceOf(first); place > 0; place = terms.placeBeforeThat(place)) {
      const start = place - (code[at + 3] ?? 0)
      let word = at + 4
      while (word < end && terms.isAt(start + (code[word + 2] ?? 0), code[word] ?? 0, code[word + 1] ?? 0)) word += 3
      if (word >= end) return true
    }
    return false
  }

  private hang(program: number): void {
    const { cover, index } = this
    cover.choose(this.pool.chunkOf(program), this.pool.offsetOf(program) + HEAD)
    for (let anchor = 0; anchor < cover.count * ANCHOR; anchor += ANCHOR) {
      const { anchors } = cover
      index.add(anchors[anchor] ?? 0, anchors[anchor + 1] ?? 0, program, anchors[anchor + 2] ?? 0)
      const gramSpace = anchors[anchor + 3] ?? 0
      if (gramSpace !== 0) this.spaces.use(gramSpace)
    }
  }

  private unhang(program: number): void {
    const { index, predicates, spaces } = this
    const words = this.pool.chunkOf(program)
    const start = this.pool.offsetOf(program) + HEAD
    const end = start + lengthOf(words, start)
    for (let leaf = start; leaf < end; leaf += leafLengthOf(words, leaf)) {
      const word = words[leaf] ?? 0
      if (!isAnchor(word)) continue
      words[leaf] = asNoAnchor(word)
      if (tagOf(word) === TEST) {
        const grams = predicates.gramsOf(words[leaf + 1] ?? 0)
        const gram = gramOf(word)
        index.remove(grams[gram] ?? 0, grams[gram + 1] ?? 0, program)
        spaces.release(grams[gram + 2] ?? 0)
      } else {
        index.remove(words[leaf + 1] ?? 0, words[leaf + 2] ?? 0, program)
      }
    }
  }

  /** Looks at a few rules, if it is time, and hangs those on better anchors for which there are any by now. */
  private rehang(): void {
    const { review, cover } = this
    for (let left = review.due(this.rules.highest); left > 0; left--) {
      const program = this.rules.programOf(review.next(this.rules.highest))
      if (program === 0) continue
      const words = this.pool.chunkOf(program)
      const start = this.pool.offsetOf(program) + HEAD
      if (1.1 * cover.costOf(words, start) + 1 < this.costOfAnchors(words, start)) {
        this.unhang(program)
        this.hang(program)
      }
    }
  }

  private costOfAnchors(words: Int32Array, start: number): number {
    const end = start + lengthOf(words, start)
    let cost = 0
    for (let leaf = start; leaf < end; leaf += leafLengthOf(words, leaf)) {
      if (isAnchor(words[leaf] ?? 0)) cost += this.cover.costOfAnchor(words, leaf)
    }
    return cost
  }

  private useSpaces(code: Int32Array, start: number, end: number): void {
    for (let at = start; at < end; at += leafLengthOf(code, at)) {
      const word = code[at] ?? 0
      const tag = tagOf(word)
      if (tag === TERM || tag === PHRASE) this.spaces.use(spaceOf(word))
      if (tag === PHRASE) {
        const last = at + 3 * wordCountOf(word)
        this.terms.reach = Math.max(this.terms.reach, (code[last] ?? 0) + 1)
      }
    }
  }

  private releaseSpaces(code: Int32Array, start: number, end: number): void {
    for (let at = start; at < end; at += leafLengthOf(code, at)) {
      const word = code[at] ?? 0
      const tag = tagOf(word)
      if (tag === TERM || tag === PHRASE) this.spaces.release(spaceOf(word))
      else if (tag === TEST) this.predicates.release(code[at + 1] ?? 0)
    }
  }
}
