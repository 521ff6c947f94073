/** Reads the texts of a large event in turns, ahead of `readTerms`, which then only copies their terms. */
import type { PlatformEvent } from "../syntax/expression/eventFields.ts"
import type { Field } from "../syntax/expression/expression.ts"
import type { Tokens } from "../syntax/words/tokens.ts"
import { writeTokens } from "../syntax/words/wordBuffer.ts"
import { Pace, type Turns } from "../work/turns.ts"
import { Entries } from "./Entries.ts"
import { appendEntries, type LargeFields, MAX_TERMS, type Source } from "./eventTerms.ts"
import type { FieldPlan } from "./spaces.ts"

/** Undefined for a small event. Valid until a rule is added or removed. */
export function* readLargeFields(event: PlatformEvent, source: Source): Turns<LargeFields | undefined> {
  const { textPlans } = source.spaces
  if (!isLarge(event, textPlans)) return undefined
  const pace = new Pace()
  const fields = new Map<Field, Entries>()
  for (const plan of textPlans) {
    yield* event.readText(plan.field, pace)
    fields.set(plan.field, yield* readField(event.text(plan.field), plan, source, pace))
  }
  return fields
}

// ---- helpers ----

/** In UTF-16 code units. `readTerms` reads as many in a few milliseconds, and with less work. */
const LARGE = 65_536

const WORDS_PER_PART = 512
const STEPS_PER_TEXT = 500
const STEPS_PER_WORD = 50

const isLarge = (event: PlatformEvent, plans: ReadonlyArray<FieldPlan>): boolean => {
  let length = 0
  for (const { field } of plans) for (const text of event.texts(field)) length += text.length
  return length >= LARGE
}

function* readField(texts: ReadonlyArray<Tokens>, plan: FieldPlan, source: Source, pace: Pace): Turns<Entries> {
  const words = new Entries(MAX_TERMS)
  const others = new Entries(MAX_TERMS)
  for (const tokens of texts) {
    for (const part of partsOf(tokens)) {
      appendEntries(source, plan, writeTokens(part), { words, others })
      if (pace.endsTurn(STEPS_PER_TEXT + STEPS_PER_WORD * part.words.length)) yield
    }
    words.skip(source.maxPhraseLength)
  }
  words.append(others.all)
  return words
}

/** With positions relative to the end of the part before. */
function* partsOf({ words, positions }: Tokens): Generator<Tokens> {
  let end = 0
  for (let from = 0; from < words.length; from += WORDS_PER_PART) {
    const start = end
    const part = words.slice(from, from + WORDS_PER_PART)
    const own = positions.slice(from, from + part.length)
    end = (own.at(-1) ?? 0) + 1
    yield { words: part, positions: own.map((position) => position - start) }
  }
}
