/**
 * Measures the worst case of matching: the most expensive rules that are accepted, on events made for them. Prints the CPU
 * time of one event, and the longest turn: how long the process cannot do anything else.
 * `npm run worst:engine [-- pairs seed]`
 */
import process from "node:process"
import { Either } from "effect"
import { NamedRules } from "../../core/engine/NamedRules.ts"
import type { PlatformEvent } from "../../core/syntax/expression/eventFields.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import { Random } from "../../fixtures/distributions.ts"
import { hostileRules, hostileTexts } from "../../fixtures/hostile.ts"
import { checkRule, readEvent } from "../../fixtures/languages.ts"
import { cpuMicros } from "../figures.ts"

const RULES = 1_000
const LARGE = 900_000
const SMALL = 500

const pairs = Number(process.argv[2] ?? 1_000_000)
const seed = Number(process.argv[3] ?? 1)
if (!(pairs > 0 && Number.isInteger(seed))) {
  console.error("Usage: npm run worst:engine [-- pairs seed], both whole numbers")
  process.exit(1)
}

/** In milliseconds of CPU time. */
interface Cost {
  readonly cpu: number
  readonly turn: number
}

class Rules {
  private readonly named = new NamedRules({ seed })
  private readonly expressions = new Map<string, Expression>()

  /** Returns the CPU time of the check, in milliseconds. */
  add(name: string, text: string): number {
    const start = cpuMillis()
    const { rule, issues } = checkRule("firehose", text)
    const millis = cpuMillis() - start
    if (rule === undefined) throw new Error(`The rule "${name}" is not accepted: ${issues[0]?.message}`)
    this.named.set(name, rule.expression)
    this.expressions.set(name, rule.expression)
    return millis
  }

  match(event: PlatformEvent): Cost {
    const turns = this.named.matchInTurns(event, (name) => this.expressions.get(name))
    const start = cpuMillis()
    let last = start
    let longest = 0
    for (let isDone = false; !isDone; ) {
      isDone = turns.next().done === true
      const now = cpuMillis()
      longest = Math.max(longest, now - last)
      last = now
    }
    return { cpu: last - start, turn: longest }
  }
}

const random = new Random(seed)
largeEvents()
manyRules()

// ---- helpers ----

/** Each kind of rule alone, on an event near the limit of 1 MB. */
function largeEvents(): void {
  console.log(`\nOne rule, one event of ${LARGE} characters: CPU, and longest turn, of the worst event`)
  for (const [kind, write] of Object.entries(hostileRules)) {
    const rules = new Rules()
    const checkMillis = rules.add(kind, write(random))
    let worst: Cost = { cpu: 0, turn: 0 }
    let longest: Cost = { cpu: 0, turn: 0 }
    for (const text of Object.values(hostileTexts)) {
      const cost = rules.match(eventOf(text(random, LARGE)))
      if (cost.cpu > worst.cpu) worst = cost
      if (cost.turn > longest.turn) longest = cost
    }
    console.log(
      `  ${kind.padEnd(24)} check ${checkMillis.toFixed(1).padStart(6)} ms, event ${worst.cpu.toFixed(0).padStart(6)} ms, turn ${longest.turn.toFixed(1).padStart(6)} ms`
    )
  }
}

/** All kinds together, on small events. */
function manyRules(): void {
  const kinds = Object.entries(hostileRules)
  const rules = new Rules()
  for (let n = 0; n < RULES; n++) {
    const [kind, write] = kinds[n % kinds.length] ?? ["", () => ""]
    rules.add(`${kind} ${n}`, write(random))
  }
  const texts = Object.values(hostileTexts)
  const events = Math.ceil(pairs / RULES)
  let total = 0
  let worst = 0
  let turn = 0
  for (let n = 0; n < events; n++) {
    const cost = rules.match(eventOf(random.pick(texts)(random, SMALL)))
    total += cost.cpu
    worst = Math.max(worst, cost.cpu)
    turn = Math.max(turn, cost.turn)
  }
  console.log(`\n${RULES} such rules, ${events} events of ${SMALL} characters: ${events * RULES} pairs`)
  console.log(`  CPU of an event: mean ${(total / events).toFixed(1)} ms, worst ${worst.toFixed(1)} ms`)
  console.log(`  longest turn: ${turn.toFixed(1)} ms`)
}

/** The text in every field that the rules test. */
function eventOf(text: string): PlatformEvent {
  const record = { document: { url: `https://example.com/${text}`, title: text } }
  return Either.getOrThrow(readEvent("firehose", record, 0))
}

function cpuMillis(): number {
  return cpuMicros() / 1_000
}
