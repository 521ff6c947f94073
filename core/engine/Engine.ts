/**
 * Which of very many rules an event meets.
 *
 * A rule is compiled to flat code and hung on its anchors: the rarest terms that an event meeting it cannot lack
 * (`cover.ts`). An event is read once into a small table of its terms (`eventTerms.ts`); each term is looked up among the
 * anchors (`AnchorIndex`), and the code of what hangs there is run. Which terms are rare is learned from the events
 * themselves; rules that hang on a term that turned out common are moved to a better one as the engine runs. Everything
 * is in flat memory that is changed in place (`Pool`): a rule counts from the next event on, and leaves no trace.
 */
import type { PlatformEvent } from "../syntax/expression/eventFields.ts"
import type { Expression } from "../syntax/expression/expression.ts"
import { AnchorIndex } from "./AnchorIndex.ts"
import { Compiler, layout } from "./code.ts"
import { ANCHOR, Cover } from "./cover.ts"
import { passAll, readTerms } from "./eventTerms.ts"
import { Frequencies } from "./Frequencies.ts"
import { Fingerprints } from "./fingerprints.ts"
import { holds } from "./holds.ts"
import { Pool } from "./Pool.ts"
import { Predicates } from "./Predicates.ts"
import { Review } from "./Review.ts"
import { RuleTable } from "./RuleTable.ts"
import { EVERY_EVENT, isStartSpace, Spaces, startCell } from "./spaces.ts"

const { TERM, PHRASE, TEST } = layout
const { tagOf, spaceOf, cellOf, gramOf, isAnchor, asNoAnchor, lengthOf, leafLengthOf } = layout

export interface EngineStats {
  readonly rules: number
  /** Rules that have no term to be looked up by: they are run for every event. */
  readonly unindexed: number
  /** Of flat memory. */
  readonly bytes: number
  /** Of address space that is kept for more rules: the process does not hold memory for it yet. */
  readonly reserved: number
}

export interface EngineOptions {
  /** Draws the keys of the fingerprints: one that callers cannot know keeps them from making words collide. */
  readonly seed: number
  /** Address space for millions of rules from the start: without it, growing to many stops the world for some milliseconds. */
  readonly holdsMany?: boolean
}

/** A program is [touched, rule], then the code. */
const HEAD = 2

export class Engine {
  // What `readTerms` needs to know.
  readonly fingerprints: Fingerprints
  readonly spaces = new Spaces()
  reach = 1
  /** Postings that the last event led to: what matching it cost beyond reading it. */
  looked = 0
  private readonly pool = new Pool()
  private readonly index: AnchorIndex
  private readonly rules = new RuleTable()
  private readonly frequencies = new Frequencies()
  private readonly predicates: Predicates
  private readonly compiler: Compiler
  private readonly cover: Cover
  private readonly review = new Review()
  private stamp = 0

  constructor({ seed, holdsMany = false }: EngineOptions) {
    this.index = new AnchorIndex(this.pool, holdsMany)
    this.fingerprints = new Fingerprints(seed)
    this.predicates = new Predicates(this.fingerprints)
    this.compiler = new Compiler(this.fingerprints, this.predicates)
    this.cover = new Cover(this.frequencies, this.predicates)
  }

  get stats(): EngineStats {
    const { pool, index, rules, frequencies } = this
    return {
      rules: rules.count,
      unindexed: this.spaces.usesOf(EVERY_EVENT),
      bytes: pool.bytes + index.bytes + rules.bytes + frequencies.bytes,
      reserved: index.reserved
    }
  }

  /** The number by which the rule goes from now on. Numbers of removed rules are given again. */
  add(expression: Expression): number {
    const { compiler, pool } = this
    compiler.compile(expression)
    if (!this.cover.hasAnchors(compiler.code, 0)) compiler.requireEveryEvent()
    const { code, length } = compiler
    const rule = this.rules.take()
    const program = pool.take(HEAD + length)
    const words = pool.chunkOf(program)
    const at = pool.offsetOf(program)
    words[at] = 0
    words[at + 1] = rule
    for (let word = 0; word < length; word++) words[at + HEAD + word] = code[word] ?? 0
    this.choose(program)
    this.countTerms(words, at + HEAD, 1)
    for (const bytes of compiler.startLengths) this.spaces.wantStarts(bytes)
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
    this.dismiss(program)
    this.countTerms(words, start, -1)
    this.unhang(program)
    this.releaseTests(words, start)
    this.pool.giveBack(program, HEAD + length)
    this.rules.giveBack(rule)
  }

  /** Numbers of the rules that the event meets, each once, in no order. */
  match(event: PlatformEvent): ReadonlyArray<number> {
    const met: Array<number> = []
    if (this.rules.count === 0) return met
    const terms = readTerms(event, this)
    this.stamp = this.stamp === 0x7fffffff ? 1 : this.stamp + 1
    const { index, pool, predicates, stamp } = this
    const count = index.gather(terms)
    this.looked = index.looked
    const { programs } = index
    for (let program = 0; program < count; program++) {
      const address = programs[program] ?? 0
      // It may hang on several terms of the event.
      if (pool.isDone(address)) continue
      const words = pool.chunkOf(address)
      const at = pool.offsetOf(address)
      if (holds(words, at + HEAD, event, predicates, stamp)) met.push(words[at + 1] ?? 0)
    }
    this.frequencies.learn(terms)
    if (this.review.isDue()) this.rehang(terms)
    return met
  }

  /** Chooses the anchors of the rule. Whatever can be done before `hang` gives time to fetch where they belong. */
  private choose(program: number): void {
    const { cover, index } = this
    cover.choose(this.pool.chunkOf(program), this.pool.offsetOf(program) + HEAD)
    for (let anchor = 0; anchor < cover.count * ANCHOR; anchor += ANCHOR) {
      index.announce(cover.anchors[anchor] ?? 0)
    }
    this.countGramAnchors(program, 1)
  }

  /** On the anchors chosen last. */
  private hang(program: number): void {
    const { cover, index } = this
    index.begin()
    for (let anchor = 0; anchor < cover.count * ANCHOR; anchor += ANCHOR) {
      const { anchors } = cover
      index.add(anchors[anchor] ?? 0, anchors[anchor + 1] ?? 0, program, anchors[anchor + 2] ?? 0)
    }
  }

  /** What `choose` is for `hang`, this is for `unhang`. */
  private dismiss(program: number): void {
    const words = this.pool.chunkOf(program)
    const start = this.pool.offsetOf(program) + HEAD
    const end = start + lengthOf(words, start)
    for (let leaf = start; leaf < end; leaf += leafLengthOf(words, leaf)) {
      if (!isAnchor(words[leaf] ?? 0)) continue
      const { from, pair } = this.anchorAt(words, leaf)
      this.index.announce(from[pair] ?? 0)
    }
    this.countGramAnchors(program, -1)
  }

  private unhang(program: number): void {
    const words = this.pool.chunkOf(program)
    const start = this.pool.offsetOf(program) + HEAD
    const end = start + lengthOf(words, start)
    for (let leaf = start; leaf < end; leaf += leafLengthOf(words, leaf)) {
      const word = words[leaf] ?? 0
      if (!isAnchor(word)) continue
      const { from, pair } = this.anchorAt(words, leaf)
      words[leaf] = asNoAnchor(word)
      this.index.remove(from[pair] ?? 0, from[pair + 1] ?? 0, program)
    }
  }

  /** Where the term is that the rule hangs on by this leaf. */
  private anchorAt(words: Int32Array, leaf: number): { readonly from: Int32Array; readonly pair: number } {
    const word = words[leaf] ?? 0
    return tagOf(word) === TEST
      ? { from: this.predicates.gramsOf(words[leaf + 1] ?? 0), pair: gramOf(word) }
      : { from: words, pair: leaf + 1 }
  }

  /** Grams are only looked for in events while a rule hangs on one. */
  private countGramAnchors(program: number, change: 1 | -1): void {
    const words = this.pool.chunkOf(program)
    const start = this.pool.offsetOf(program) + HEAD
    const end = start + lengthOf(words, start)
    for (let leaf = start; leaf < end; leaf += leafLengthOf(words, leaf)) {
      const word = words[leaf] ?? 0
      if (tagOf(word) !== TEST || !isAnchor(word)) continue
      const grams = this.predicates.gramsOf(words[leaf + 1] ?? 0)
      const gram = gramOf(word)
      this.spaces.count(grams[gram + 2] ?? 0, change)
      this.spaces.countGram(grams[gram + 3] ?? 0, change)
    }
  }

  /** Looks at some of the rules that hang on a term of the event, and hangs them on better ones if there are any by now. */
  private rehang(terms: number): void {
    const { index, cover, pool, review } = this
    passAll()
    const chosen = review.choice(index.programs, index.gather(terms))
    let moved = 0
    for (const program of chosen) {
      const words = pool.chunkOf(program)
      const start = pool.offsetOf(program) + HEAD
      const cost = this.costOfAnchors(words, start)
      if (1.1 * cover.costOf(words, start, cost) + 1 < cost) {
        this.dismiss(program)
        this.unhang(program)
        this.choose(program)
        this.hang(program)
        moved++
      }
    }
    review.note(moved, chosen.length)
  }

  private costOfAnchors(words: Int32Array, start: number): number {
    const end = start + lengthOf(words, start)
    let cost = 0
    for (let leaf = start; leaf < end; leaf += leafLengthOf(words, leaf)) {
      if (isAnchor(words[leaf] ?? 0)) cost += this.cover.costOfAnchor(words, leaf)
    }
    return cost
  }

  private releaseTests(words: Int32Array, start: number): void {
    const end = start + lengthOf(words, start)
    for (let at = start; at < end; at += leafLengthOf(words, at)) {
      if (tagOf(words[at] ?? 0) === TEST) this.predicates.release(words[at + 1] ?? 0)
    }
  }

  /** What the rule needs to be read of an event. `change` is 1 for one rule more, -1 for one less. */
  private countTerms(words: Int32Array, start: number, change: 1 | -1): void {
    const end = start + lengthOf(words, start)
    for (let at = start; at < end; at += leafLengthOf(words, at)) {
      const word = words[at] ?? 0
      const tag = tagOf(word)
      if (tag === TERM || tag === PHRASE) this.spaces.count(spaceOf(word), change)
      if (tag === TERM && isStartSpace(spaceOf(word))) {
        this.spaces.countStart(cellOf(word), startCell(words[at + 1] ?? 0), change)
      }
      if (tag === PHRASE) {
        for (let offset = at + 3; offset < at + lengthOf(words, at); offset += 3) {
          this.reach = Math.max(this.reach, (words[offset] ?? 0) + 1)
        }
      }
    }
  }
}
