/**
 * Matches an event against very many rules, in time that depends on the candidates and not on the number of rules.
 *
 * - Index: each rule is compiled to flat code (`code.ts`) and indexed by its anchors: the rarest set of terms such that
 *   every matching event has one of them (`AnchorSelector`). A rule without an anchor is a candidate for every event.
 * - Look up: an event is read once into a small hash set of its terms (`eventTerms.ts`). Each term is looked up in the
 *   inverted index (`AnchorIndex`). A posting has a guard, a second required term that spares most candidates.
 * - Verify: the code of each candidate is evaluated on the event (`verify.ts`). False positives are thus harmless.
 * - Adapt: term frequencies are learned from the events (`Frequencies`). Rules whose anchor turned out to be common
 *   move to a rarer one (`ReanchorSchedule`).
 *
 * Terms are 64-bit fingerprints (`fingerprints.ts`). All state is in typed arrays and is changed in place (`Pool`): a
 * change of rules applies to the next event, and removing a rule frees all of its memory.
 */
import type { PlatformEvent } from "../syntax/expression/eventFields.ts"
import type { Expression, Field } from "../syntax/expression/expression.ts"
import type { Turns } from "../work/turns.ts"
import { AnchorIndex } from "./AnchorIndex.ts"
import { ANCHOR_WORDS, AnchorSelector } from "./AnchorSelector.ts"
import type { Costs } from "./Costs.ts"
import { Compiler, layout } from "./code.ts"
import { eventsRead, passAllGuards, readTerms } from "./eventTerms.ts"
import { Frequencies } from "./Frequencies.ts"
import { Fingerprints } from "./fingerprints.ts"
import { readLargeFields } from "./largeFields.ts"
import { Pool } from "./Pool.ts"
import { Predicates } from "./Predicates.ts"
import { ReanchorSchedule } from "./ReanchorSchedule.ts"
import { RuleTable } from "./RuleTable.ts"
import { EVERY_EVENT, isPrefixSpace, prefixCell, Spaces } from "./spaces.ts"
import { verify } from "./verify.ts"
import { Work } from "./Work.ts"

const { TERM, PHRASE, TEST } = layout
const { tagOf, spaceOf, prefixCellOf, gramOf, isAnchor, withoutAnchor, lengthOf, leafStep } = layout

export interface EngineStats {
  readonly rules: number
  /** Rules without an anchor: candidates for every event. */
  readonly unindexed: number
  /** Memory of the index. */
  readonly bytes: number
  /** Address space reserved for more rules, not backed by memory yet. */
  readonly reserved: number
}

export interface EngineOptions {
  /** Seed of the fingerprint keys. If callers cannot know it, they cannot construct colliding words. */
  readonly seed: number
  /** Reserves address space for millions of rules. Without it, growing pauses the process for some milliseconds. */
  readonly largeCapacity?: boolean
  /** Keyword fields with few distinct values: bad anchors. */
  readonly coarseFields?: ReadonlySet<Field>
}

/** Called for each rule that matches, or that is undecided. */
export type Found = (rule: number, isDecided: boolean) => void

/** A program is [seen mark, rule], then the code. */
const HEADER_WORDS = 2

/** What a candidate costs beside the steps of its code. */
const NANOS_PER_CANDIDATE = 40

export class Engine {
  // Read by `readTerms`.
  readonly fingerprints: Fingerprints
  readonly spaces = new Spaces()
  maxPhraseLength = 1
  /** Postings read for the last event: a measure of what matching it cost. */
  postingsScanned = 0
  private readonly pool = new Pool()
  private readonly index: AnchorIndex
  private readonly rules = new RuleTable()
  private readonly frequencies = new Frequencies()
  private readonly predicates: Predicates
  private readonly compiler: Compiler
  private readonly selector: AnchorSelector
  private readonly schedule = new ReanchorSchedule()
  private stamp = 0
  /** How often rules were added or removed. */
  private changes = 0

  constructor({ seed, largeCapacity = false, coarseFields = new Set() }: EngineOptions) {
    this.index = new AnchorIndex(this.pool, largeCapacity)
    this.fingerprints = new Fingerprints(seed)
    this.predicates = new Predicates(this.fingerprints, this.spaces)
    const { fingerprints, predicates, spaces } = this
    this.compiler = new Compiler({ fingerprints, predicates, spaces, coarseFields })
    this.selector = new AnchorSelector(this.frequencies, this.predicates)
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

  /** Returns the rule's number. Numbers of removed rules are reused. */
  add(expression: Expression): number {
    const { compiler, pool } = this
    this.changes++
    compiler.compile(expression)
    if (!this.selector.hasAnchors(compiler.code, 0)) compiler.requireEveryEvent()
    const { code, length } = compiler
    const rule = this.rules.allocate()
    const program = pool.allocate(HEADER_WORDS + length)
    const words = pool.chunkOf(program)
    const at = pool.offsetOf(program)
    words[at] = 0
    words[at + 1] = rule
    for (let word = 0; word < length; word++) words[at + HEADER_WORDS + word] = code[word] ?? 0
    this.selectAnchors(program)
    this.countTerms(words, at + HEADER_WORDS, 1)
    for (const bytes of compiler.prefixLengths) this.spaces.addPrefixLength(bytes)
    this.addPostings(program)
    this.rules.set(rule, program)
    return rule
  }

  remove(rule: number): void {
    const program = this.rules.programOf(rule)
    if (program === 0) return
    this.changes++
    const words = this.pool.chunkOf(program)
    const start = this.pool.offsetOf(program) + HEADER_WORDS
    const length = lengthOf(words, start)
    this.prepareRemoval(program)
    this.countTerms(words, start, -1)
    this.removePostings(program)
    this.releaseTests(words, start)
    this.pool.free(program, HEADER_WORDS + length)
    this.rules.free(rule)
  }

  /** Numbers of the matching rules, without duplicates, in no particular order. */
  match(event: PlatformEvent): ReadonlyArray<number> {
    const matched: Array<number> = []
    if (this.rules.count === 0) return matched
    const terms = readTerms(event, this)
    this.verifyCandidates(event, terms, new Work(this.nextStamp(), false), (rule) => matched.push(rule))
    this.learn(terms)
    return matched
  }

  /**
   * Like `match`, for any event and any rules. Rules can be changed and other events matched between two turns. The tests
   * of one event get a limited amount of work; a rule that needs more is reported as undecided. `costs`: what verifying
   * each rule has cost is added to it.
   */
  *matchInTurns(event: PlatformEvent, found: Found, costs?: Costs): Turns<void> {
    if (this.rules.count === 0) return
    const { changes } = this
    const large = yield* readLargeFields(event, this)
    const read = () => readTerms(event, this, changes === this.changes ? large : undefined)
    let terms = read()
    const work = new Work(this.nextStamp(), true, costs)
    if (large !== undefined) {
      // Reading its terms, finding candidates and verifying them are turns of their own.
      terms = yield* this.endTurn(terms, read)
      work.steps = work.stepsPerTurn
    }
    const rest = this.verifyCandidates(event, terms, work, found)
    this.learn(terms)
    if (rest.length > 0) yield* this.verifyRest(rest, event, { terms, read }, work, found)
  }

  private nextStamp(): number {
    this.stamp = this.stamp === 0x7fffffff ? 1 : this.stamp + 1
    return this.stamp
  }

  private learn(terms: number): void {
    this.frequencies.learn(terms)
    if (this.schedule.isDue()) this.reanchor(terms)
  }

  /** Verifies candidates until the turn ends, or all of them if the work is not limited. Returns the numbers of the other rules. */
  private verifyCandidates(event: PlatformEvent, terms: number, work: Work, found: Found): ReadonlyArray<number> {
    const { index, pool } = this
    const count = index.findCandidates(terms)
    this.postingsScanned = index.scanned
    const { candidates } = index
    const rest: Array<number> = []
    for (let program = 0; program < count; program++) {
      const address = candidates[program] ?? 0
      // A rule can be a candidate by several terms.
      if (pool.markSeen(address)) continue
      if (work.steps < work.stepsPerTurn) this.verifyProgram(address, event, terms, work, found)
      else rest.push(pool.chunkOf(address)[pool.offsetOf(address) + 1] ?? 0)
    }
    return rest
  }

  private *verifyRest(
    rest: ReadonlyArray<number>,
    event: PlatformEvent,
    { terms: firstTerms, read }: { readonly terms: number; readonly read: () => number },
    work: Work,
    found: Found
  ): Turns<void> {
    let terms = firstTerms
    for (const rule of rest) {
      if (work.steps >= work.stepsPerTurn) {
        work.steps = 0
        terms = yield* this.endTurn(terms, read)
      }
      const program = this.rules.programOf(rule)
      if (program !== 0) this.verifyProgram(program, event, terms, work, found)
    }
  }

  /** Reads the event again if its terms were replaced meanwhile. */
  private *endTurn(terms: number, read: () => number): Turns<number> {
    const { changes } = this
    const reads = eventsRead()
    yield
    // The table is shared, and added rules may use other fields.
    return changes !== this.changes || reads !== eventsRead() ? read() : terms
  }

  private verifyProgram(program: number, event: PlatformEvent, terms: number, work: Work, found: Found): void {
    const words = this.pool.chunkOf(program)
    const at = this.pool.offsetOf(program)
    work.isUndecided = false
    const before = work.steps + work.testNanos
    // In a large event the chains of `eventTerms` are long.
    work.steps += lengthOf(words, at + HEADER_WORDS) * (1 + (terms >> 10))
    const isMatch = verify(words, at + HEADER_WORDS, event, this.predicates, work)
    work.costs?.add(words[at + 1] ?? 0, NANOS_PER_CANDIDATE + work.steps + work.testNanos - before)
    if (isMatch || work.isUndecided) found(words[at + 1] ?? 0, !work.isUndecided)
  }

  /** Selects anchors and prefetches their buckets. Do other work before `addPostings`, to hide the latency. */
  private selectAnchors(program: number): void {
    const { selector, index } = this
    selector.select(this.pool.chunkOf(program), this.pool.offsetOf(program) + HEADER_WORDS)
    for (let anchor = 0; anchor < selector.count * ANCHOR_WORDS; anchor += ANCHOR_WORDS) {
      index.prefetch(selector.anchors[anchor] ?? 0)
    }
    this.countGramAnchors(program, 1)
  }

  /** Uses the anchors selected last. */
  private addPostings(program: number): void {
    const { selector, index } = this
    index.beginRule()
    for (let anchor = 0; anchor < selector.count * ANCHOR_WORDS; anchor += ANCHOR_WORDS) {
      const { anchors } = selector
      index.add(anchors[anchor] ?? 0, anchors[anchor + 1] ?? 0, program, anchors[anchor + 2] ?? 0)
    }
  }

  /** Prefetches the buckets that `removePostings` changes. */
  private prepareRemoval(program: number): void {
    const words = this.pool.chunkOf(program)
    const start = this.pool.offsetOf(program) + HEADER_WORDS
    const end = start + lengthOf(words, start)
    for (let leaf = start; leaf < end; leaf += leafStep(words, leaf)) {
      if (!isAnchor(words[leaf] ?? 0)) continue
      const { from, pair } = this.anchorAt(words, leaf)
      this.index.prefetch(from[pair] ?? 0)
    }
    this.countGramAnchors(program, -1)
  }

  private removePostings(program: number): void {
    const words = this.pool.chunkOf(program)
    const start = this.pool.offsetOf(program) + HEADER_WORDS
    const end = start + lengthOf(words, start)
    for (let leaf = start; leaf < end; leaf += leafStep(words, leaf)) {
      const word = words[leaf] ?? 0
      if (!isAnchor(word)) continue
      const { from, pair } = this.anchorAt(words, leaf)
      words[leaf] = withoutAnchor(word)
      this.index.remove(from[pair] ?? 0, from[pair + 1] ?? 0, program)
    }
  }

  /** Where the leaf's anchor is: [high, low] at `pair`. */
  private anchorAt(words: Int32Array, leaf: number): { readonly from: Int32Array; readonly pair: number } {
    const word = words[leaf] ?? 0
    return tagOf(word) === TEST
      ? { from: this.predicates.gramsOf(words[leaf + 1] ?? 0), pair: gramOf(word) }
      : { from: words, pair: leaf + 1 }
  }

  /** Grams are only extracted from events while a rule is anchored on one. */
  private countGramAnchors(program: number, change: 1 | -1): void {
    const words = this.pool.chunkOf(program)
    const start = this.pool.offsetOf(program) + HEADER_WORDS
    const end = start + lengthOf(words, start)
    for (let leaf = start; leaf < end; leaf += leafStep(words, leaf)) {
      const word = words[leaf] ?? 0
      if (tagOf(word) !== TEST || !isAnchor(word)) continue
      const grams = this.predicates.gramsOf(words[leaf + 1] ?? 0)
      const gram = gramOf(word)
      this.spaces.count(grams[gram + 2] ?? 0, change)
      this.spaces.countGram(grams[gram + 3] ?? 0, change)
    }
  }

  /** Moves some of the event's candidates to cheaper anchors. */
  private reanchor(terms: number): void {
    const { index, selector, pool, schedule } = this
    passAllGuards()
    const sample = schedule.sample(index.candidates, index.findCandidates(terms))
    let moved = 0
    for (const program of sample) {
      const words = pool.chunkOf(program)
      const start = pool.offsetOf(program) + HEADER_WORDS
      const cost = this.costOfAnchors(words, start)
      if (1.1 * selector.costOf(words, start, cost) + 1 < cost) {
        this.prepareRemoval(program)
        this.removePostings(program)
        this.selectAnchors(program)
        this.addPostings(program)
        moved++
      }
    }
    schedule.record(moved, sample.length)
  }

  private costOfAnchors(words: Int32Array, start: number): number {
    const end = start + lengthOf(words, start)
    let cost = 0
    for (let leaf = start; leaf < end; leaf += leafStep(words, leaf)) {
      if (isAnchor(words[leaf] ?? 0)) cost += this.selector.costOfAnchor(words, leaf)
    }
    return cost
  }

  private releaseTests(words: Int32Array, start: number): void {
    const end = start + lengthOf(words, start)
    for (let at = start; at < end; at += leafStep(words, at)) {
      if (tagOf(words[at] ?? 0) === TEST) this.predicates.release(words[at + 1] ?? 0)
    }
  }

  /** Counts what events must be read for. `change`: 1 for an added rule, -1 for a removed one. */
  private countTerms(words: Int32Array, start: number, change: 1 | -1): void {
    const end = start + lengthOf(words, start)
    for (let at = start; at < end; at += leafStep(words, at)) {
      const word = words[at] ?? 0
      const tag = tagOf(word)
      if (tag === TERM || tag === PHRASE) this.spaces.count(spaceOf(word), change)
      if (tag === TERM && isPrefixSpace(spaceOf(word))) {
        this.spaces.countPrefix(prefixCellOf(word), prefixCell(words[at + 1] ?? 0), change)
      }
      if (tag === PHRASE) {
        for (let offset = at + 3; offset < at + lengthOf(words, at); offset += 3) {
          this.maxPhraseLength = Math.max(this.maxPhraseLength, (words[offset] ?? 0) + 1)
        }
      }
    }
  }
}
