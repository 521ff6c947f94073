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
  private readonly fields: Record<FieldName, ReadonlyArray<string>> = { ...noFields }
  private readonly analysed = new Map<Field, ReadonlyArray<Tokens>>()

  constructor(platform: PlatformId, line: string) {
    const { text, fields } = readPlain(line)
    this.platform = platform
    this.ownTexts = [text]
    for (const field of fields) {
      const at = field.indexOf("=")
      const name = field.slice(0, at)
      if (isFieldName(name)) this.fields[name] = [...this.fields[name], field.slice(at + 1)]
    }
  }

  /** Its texts are short. */
  *readText(): Turns<void> {}

  texts(field: Field): ReadonlyArray<string> {
    switch (field) {
      case "x.text":
      case "firehose.added":
        return this.ownTexts
      case "x.url":
        return this.fields.url
      default:
        return none
    }
  }

  values(field: Field): ReadonlyArray<string> {
    switch (field) {
      case "x.from":
        return this.fields.from
      case "x.lang":
        return this.fields.lang
      case "x.hashtag":
        return this.fields.hashtag
      case "x.mention":
        return this.fields.mention
      case "x.url":
        return this.fields.url
      case "x.has":
        return this.fields.has
      case "x.is":
        return this.fields.is
      case "firehose.domain":
        return this.fields.domain
      case "firehose.language":
        return this.fields.language
      case "firehose.page_category":
        return this.fields.category
      case "firehose.page_type":
        return this.fields.type
      default:
        return none
    }
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
    return Math.max(0, ...this.fields.followers.map(Number), ...this.fields.rating.map(Number))
  }

  places(): ReadonlyArray<Area> {
    return []
  }
}

// ---- helpers ----

const none: ReadonlyArray<string> = []

const noFields: Readonly<Record<FieldName, ReadonlyArray<string>>> = {
  from: none,
  lang: none,
  hashtag: none,
  mention: none,
  url: none,
  has: none,
  is: none,
  followers: none,
  domain: none,
  language: none,
  category: none,
  type: none,
  rating: none
}

const isFieldName = (name: string): name is FieldName => name in noFields
