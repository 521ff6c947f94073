/** A platform made up for the tests: earthquakes, with filters such as `"near the coast" region:chile magnitude>5`. */
import { Either, Schema } from "effect"
import type { Language } from "../core/languages/Language.ts"
import type { Checked } from "../core/syntax/expression/checked.ts"
import { type FieldReader, LazyFields } from "../core/syntax/expression/eventFields.ts"
import type { Expression } from "../core/syntax/expression/expression.ts"
import type { Issue } from "../core/syntax/issues/issue.ts"
import { writeTokens } from "../core/syntax/words/wordBuffer.ts"
import { type JsonObject, numberOf, objectOf, textOf } from "../core/text/json.ts"

export const quakes: Language = {
  id: "quakes",
  name: "Quakes",
  watches: "earthquakes",
  ruleType: "regular",
  check: (text) => check(text),
  *checkInTurns(text) {
    return check(text)
  },
  help: {
    summary: "Words of the report, region:NAME and magnitude>NUMBER, all of which must hold",
    operators: [{ name: "magnitude>", description: "Stronger than this", example: "magnitude>5" }],
    examples: [{ rule: "region:chile magnitude>5", description: "Strong earthquakes in Chile" }],
    mistakes: [],
    limits: {},
    page: () => "# Filters on Quakes"
  },
  fieldNames: {
    text: { "quakes.report": "the report" },
    keyword: { "quakes.region": { name: "The region" } },
    number: { "quakes.magnitude": "The magnitude" }
  },
  events: {
    shape: 'a quake has "quake" with "id" and "report"',
    schema: Schema.Struct({ quake: Schema.Struct({ id: Schema.String }) }),
    recognizes: (record) => "quake" in record,
    read: (record) => Either.map(quakeOf(record), (quake) => new LazyFields(new QuakeReader(quake))),
    idOf: (record) => Either.map(quakeOf(record), (quake) => textOf(quake["id"]) ?? ""),
    timeOf: () => undefined,
    titleOf: (record) => textOf(objectOf(objectOf(record)?.["quake"])?.["report"]),
    summaryOf: (record) => ({ text: String(objectOf(objectOf(record)?.["quake"])?.["report"]) })
  }
}

export const quake = (id: string, report: string, region: string, magnitude: number) => ({
  quake: { id, report, region, magnitude }
})

// ---- helpers ----

const check = (text: string): Checked => {
  const clauses = Array.from(text.matchAll(/\S+/g), (found) => clauseOf(found[0], found.index))
  const issues = clauses.filter((clause) => "severity" in clause)
  const expressions = clauses.filter((clause) => "_tag" in clause)
  if (issues.length > 0 || expressions.length === 0)
    return { issues: [...issues, ...emptyIssue(text)], rule: undefined }
  const span = { start: 0, end: text.length }
  const canonical = Array.from(text.matchAll(/\S+/g), ([clause]) => clause.toLowerCase()).join(" ")
  return { issues: [], rule: { canonical, expression: { _tag: "And", clauses: expressions, span } } }
}

const clauseOf = (clause: string, start: number): Expression | Issue => {
  const span = { start, end: start + clause.length }
  const [, name, sign, value = ""] = /^(?:(\w+)([:>]))?(.*)$/s.exec(clause) ?? []
  if (name === undefined) {
    return { _tag: "Phrase", field: "quakes.report", words: [value.toLowerCase()], slop: 0, span }
  }
  if (name === "region" && sign === ":") {
    return { _tag: "Equals", field: "quakes.region", value: value.toLowerCase(), span }
  }
  if (name === "magnitude" && sign === ">" && Number.isFinite(Number(value))) {
    const from = { value: Number(value), inclusive: false }
    return { _tag: "NumberRange", field: "quakes.magnitude", from, to: undefined, span }
  }
  return { severity: "error", code: "unknown", span, message: `"${name}" is not a field of an earthquake` }
}

const emptyIssue = (text: string): ReadonlyArray<Issue> =>
  text.trim() === ""
    ? [{ severity: "error", code: "empty", span: { start: 0, end: text.length }, message: "The filter is empty" }]
    : []

const quakeOf = (record: unknown): Either.Either<JsonObject, string> => {
  const found = objectOf(objectOf(record)?.["quake"])
  return found === undefined || textOf(found["id"]) === undefined
    ? Either.left('Not a quake: "quake" needs an "id"')
    : Either.right(found)
}

class QuakeReader implements FieldReader {
  private readonly quake: JsonObject

  constructor(quake: JsonObject) {
    this.quake = quake
  }

  id() {
    return textOf(this.quake["id"]) ?? ""
  }
  texts(field: string) {
    const report = textOf(this.quake["report"])
    return field === "quakes.report" && report !== undefined ? [report] : []
  }
  analyse(text: string) {
    const words = text.toLowerCase().match(/\w+/g) ?? []
    return { words, positions: words.map((_, index) => index) }
  }
  writeWords(text: string) {
    return writeTokens(this.analyse(text))
  }
  values(field: string) {
    const region = textOf(this.quake["region"])
    return field === "quakes.region" && region !== undefined ? [region.toLowerCase()] : []
  }
  number(field: string) {
    return field === "quakes.magnitude" ? numberOf(this.quake["magnitude"]) : undefined
  }
  places() {
    return []
  }
  ageHours() {
    return undefined
  }
}
