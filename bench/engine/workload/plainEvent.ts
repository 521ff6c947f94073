/** An event for our engine in the peers' format: a text and field values. */
import type { Area, PlatformEvent } from "../../../core/syntax/expression/eventFields.ts"
import type { Field } from "../../../core/syntax/expression/expression.ts"
import { analyse } from "../../../core/syntax/firehose/tokens.ts"
import { writeWords } from "../../../core/syntax/firehose/writeWords.ts"
import type { Tokens } from "../../../core/syntax/words/tokens.ts"
import { tokens, withPositions, writeWords as writePostWords } from "../../../core/syntax/x/tokens.ts"
import type { Turns } from "../../../core/work/turns.ts"
import type { PlatformId } from "../../../fixtures/languages.ts"
import { readPlain } from "./event.ts"
import type { FieldName } from "./rule.ts"

export class PlainEvent implements PlatformEvent {
  readonly id = "1"
  readonly ageHours = undefined
  private readonly platform: PlatformId
  private readonly ownTexts: ReadonlyArray<string>
  private readonly fields = new Map<Field, ReadonlyArray<string>>()
  private highest = 0
  private readonly analysed = new Map<Field, ReadonlyArray<Tokens>>()

  constructor(platform: PlatformId, line: string) {
    const { text, fields } = readPlain(line)
    this.platform = platform
    this.ownTexts = [text]
    for (const field of fields) {
      const at = field.indexOf("=")
      const name = FIELDS.get(field.slice(0, at))
      const value = field.slice(at + 1)
      if (name === undefined) this.highest = Math.max(this.highest, Number(value))
      else this.fields.set(name, [...this.values(name), value])
    }
  }

  /** Its texts are short. */
  *readText(): Turns<void> {}

  texts(field: Field): ReadonlyArray<string> {
    if (field === "x.text" || field === "firehose.added") return this.ownTexts
    return field === "x.url" ? this.values(field) : none
  }

  values(field: Field): ReadonlyArray<string> {
    return this.fields.get(field) ?? none
  }

  analyse(text: string): Tokens {
    return this.platform === "x" ? withPositions(tokens(text)) : analyse(text, false)
  }

  writeWords(text: string): number {
    return this.platform === "x" ? writePostWords(text) : writeWords(text, false)
  }

  text(field: Field): ReadonlyArray<Tokens> {
    const known = this.analysed.get(field)
    if (known !== undefined) return known
    const found = this.texts(field).map((text) => this.analyse(text))
    this.analysed.set(field, found)
    return found
  }

  keywords(field: Field): ReadonlyArray<string> {
    return this.values(field)
  }

  /** The highest threshold reached. */
  number(): number {
    return this.highest
  }

  places(): ReadonlyArray<Area> {
    return []
  }
}

// ---- helpers ----

const none: ReadonlyArray<string> = []

/** All but the numbers. */
const FIELDS: ReadonlyMap<string, Field> = new Map<FieldName, Field>([
  ["from", "x.from"],
  ["lang", "x.lang"],
  ["hashtag", "x.hashtag"],
  ["mention", "x.mention"],
  ["url", "x.url"],
  ["has", "x.has"],
  ["is", "x.is"],
  ["domain", "firehose.domain"],
  ["language", "firehose.language"],
  ["category", "firehose.page_category"],
  ["type", "firehose.page_type"]
])
