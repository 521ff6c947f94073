/** An event for our engine in the form that its peers are given: a text, and the values of fields. */
import type { PlatformId } from "../../../core/PlatformId.ts"
import type { Area, PlatformEvent } from "../../../core/syntax/eventFields.ts"
import type { KeywordField, TextField } from "../../../core/syntax/expression.ts"
import { analyse, type Tokens } from "../../../core/syntax/firehose/tokens.ts"
import { writeTokens } from "../../../core/syntax/wordRow.ts"
import { inARow, tokens, writeWords } from "../../../core/syntax/x/tokens.ts"
import { readPlain } from "./event.ts"

export class PlainEvent implements PlatformEvent {
  readonly id = "1"
  readonly ageHours = undefined
  readonly #platform: PlatformId
  readonly #texts: ReadonlyArray<string>
  readonly #fields = new Map<string, Array<string>>()
  readonly #analysed = new Map<TextField, ReadonlyArray<Tokens>>()

  constructor(platform: PlatformId, line: string) {
    const { text, fields } = readPlain(line)
    this.#platform = platform
    this.#texts = [text]
    for (const field of fields) {
      const at = field.indexOf("=")
      const name = fieldNames[field.slice(0, at)] ?? ""
      const values = this.#fields.get(name)
      if (values === undefined) this.#fields.set(name, [field.slice(at + 1)])
      else values.push(field.slice(at + 1))
    }
  }

  texts(field: TextField): ReadonlyArray<string> {
    if (field === "x.text" || field === "firehose.added") return this.#texts
    return this.#fields.get(field) ?? none
  }

  values(field: KeywordField): ReadonlyArray<string> {
    return this.#fields.get(field) ?? none
  }

  writeWords(text: string): number {
    return this.#platform === "x" ? writeWords(text) : writeTokens(analyse(text, false))
  }

  text(field: TextField): ReadonlyArray<Tokens> {
    const known = this.#analysed.get(field)
    if (known !== undefined) return known
    const found = this.texts(field).map((text) =>
      this.#platform === "x" ? inARow(tokens(text)) : analyse(text, false)
    )
    this.#analysed.set(field, found)
    return found
  }

  keywords(field: KeywordField): ReadonlyArray<string> {
    return this.values(field)
  }

  /** The highest of the thresholds that it reaches. */
  number(): number {
    return Math.max(0, ...(this.#fields.get("number") ?? []).map(Number))
  }

  places(): ReadonlyArray<Area> {
    return []
  }
}

// ---- helpers ----

const none: ReadonlyArray<string> = []

const fieldNames: { readonly [name: string]: string } = {
  from: "x.from",
  lang: "x.lang",
  hashtag: "x.hashtag",
  mention: "x.mention",
  url: "x.url",
  has: "x.has",
  is: "x.is",
  followers: "number",
  domain: "firehose.domain",
  language: "firehose.language",
  category: "firehose.page_category",
  type: "firehose.page_type",
  rating: "number"
}
