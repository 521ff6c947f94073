/**
 * A rule as the workload makes it, in the one form that all engines are given: Polish notation, one rule a line. Words are
 * looked up in the text of an event, everything else is a field with a value.
 */

export type Rule =
  | { readonly op: "and" | "or"; readonly clauses: ReadonlyArray<Rule> }
  | { readonly op: "not"; readonly clause: Rule }
  | { readonly op: "word"; readonly word: string }
  /** A word that begins so. */
  | { readonly op: "prefix"; readonly start: string }
  | { readonly op: "phrase"; readonly words: ReadonlyArray<string> }
  | { readonly op: "field"; readonly field: FieldName; readonly value: string }

/** Those of posts, then those of pages. A number is given by the thresholds that it reaches. */
export type FieldName =
  | "from"
  | "lang"
  | "hashtag"
  | "mention"
  | "url"
  | "has"
  | "is"
  | "followers"
  | "domain"
  | "language"
  | "category"
  | "type"
  | "rating"

export const and = (...clauses: ReadonlyArray<Rule>): Rule => ({ op: "and", clauses })
export const or = (...clauses: ReadonlyArray<Rule>): Rule => ({ op: "or", clauses })
export const not = (clause: Rule): Rule => ({ op: "not", clause })
export const word = (text: string): Rule => ({ op: "word", word: text })
export const phrase = (words: ReadonlyArray<string>): Rule => ({ op: "phrase", words })
export const field = (name: FieldName, value: string): Rule => ({ op: "field", field: name, value })

/** `&3 wfoo |2 wa pb_c ! flang=fr`: all of three, a word, one of two, a phrase, and not a value of a field. */
export const writeRule = (rule: Rule): string => {
  switch (rule.op) {
    case "and":
      return `&${rule.clauses.length} ${rule.clauses.map(writeRule).join(" ")}`
    case "or":
      return `|${rule.clauses.length} ${rule.clauses.map(writeRule).join(" ")}`
    case "not":
      return `! ${writeRule(rule.clause)}`
    case "word":
      return `w${rule.word}`
    case "prefix":
      return `*${rule.start}`
    case "phrase":
      return `p${rule.words.join("_")}`
    case "field":
      return `f${rule.field}=${rule.value}`
  }
}

export const readRule = (line: string): Rule => readNext(line.split(" ")[Symbol.iterator]())

// ---- helpers ----

const readNext = (tokens: Iterator<string>): Rule => {
  const token: string = tokens.next().value ?? ""
  const rest = token.slice(1)
  const clauses = () => Array.from({ length: Number(rest) }, () => readNext(tokens))
  switch (token.charAt(0)) {
    case "&":
      return { op: "and", clauses: clauses() }
    case "|":
      return { op: "or", clauses: clauses() }
    case "!":
      return not(readNext(tokens))
    case "w":
      return word(rest)
    case "*":
      return { op: "prefix", start: rest }
    case "p":
      return phrase(rest.split("_"))
    case "f": {
      const equals = rest.indexOf("=")
      // Written by `writeRule`, so it is one of the names.
      return field(rest.slice(0, equals) as FieldName, rest.slice(equals + 1))
    }
    default:
      throw new Error(`Cannot read the rule: "${token}" is none of its signs`)
  }
}
