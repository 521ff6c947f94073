/** A workload rule. The format of all engines is Polish notation, one rule per line. */

export type Rule =
  | { readonly op: "and" | "or"; readonly clauses: ReadonlyArray<Rule> }
  | { readonly op: "not"; readonly clause: Rule }
  | { readonly op: "word"; readonly word: string }
  | { readonly op: "prefix"; readonly prefix: string }
  | { readonly op: "phrase"; readonly words: ReadonlyArray<string> }
  | { readonly op: "field"; readonly field: FieldName; readonly value: string }

/** Fields of posts, then of pages. A number is represented by the thresholds it reaches. */
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

/** Example: `&3 wfoo |2 wa pb_c ! flang=fr` is `foo AND (a OR "b c") AND NOT lang:fr`. */
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
      return `*${rule.prefix}`
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
      return { op: "prefix", prefix: rest }
    case "p":
      return phrase(rest.split("_"))
    case "f": {
      const equals = rest.indexOf("=")
      // `writeRule` only writes known names.
      return field(rest.slice(0, equals) as FieldName, rest.slice(equals + 1))
    }
    default:
      throw new Error(`Cannot read the rule: unknown token "${token}"`)
  }
}
