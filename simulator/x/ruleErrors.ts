/** X's error messages for a refused rule. Positions count UTF-16 code units from 1. */
import type { Issue } from "../../core/syntax/issues/issue.ts"
import { position } from "../../core/syntax/x/language.ts"

export const detailsOf = (text: string, issues: ReadonlyArray<Issue>, maxLength: number): ReadonlyArray<string> => [
  ...new Set(issues.flatMap((issue) => messagesFor(text, issue, maxLength)))
]

// ---- helpers ----

const NO_POSITIVE = "Rules must contain at least one positive, non-stopword clause"

const messagesFor = (text: string, { code, span }: Issue, maxLength: number): ReadonlyArray<string> => {
  const piece = text.slice(span.start, span.end)
  const start = position(span)
  const at = `(at position ${start})`
  const name = piece.slice(0, piece.indexOf(":") < 0 ? undefined : piece.indexOf(":"))
  switch (code) {
    case "too-long":
      return [`Rule '${text}' must be at most ${maxLength} characters`]
    case "only-negations":
    case "negated-or":
      return [`Rules must contain a non-negation term ${at}`, `${NO_POSITIVE} ${at}`]
    case "stop-words-only":
      return [`${NO_POSITIVE} ${at}`]
    case "ambiguous-and":
      return [
        `Ambiguous use of and as a keyword. Use a space to logically join two clauses, or "and" to find occurrences of and in text ${at}`
      ]
    case "needs-conjunction":
      return ["has/is/lang/sample/source cannot be used as a standalone operator"]
    case "single-quotes":
    case "curly-quotes":
      return [`no viable alternative at character '${piece}' ${at}`]
    case "extra-parenthesis":
      return [`missing EOF at ')' ${at}`]
    case "unclosed-group":
      return [`mismatched input 'EOF' expecting ')' ${at}`]
    case "unquoted-colon":
      return [`Cannot parse rule at ':' (position ${start})`]
    case "sample-with-or":
      return [
        `The sample operator cannot be used with an OR. If a rule contains an OR, the ORed clauses must be grouped together with parenthesis. For example (a OR b) sample:10 ${at}`
      ]
    case "unknown-operator":
      return [`Reference to invalid operator '${name}' ${at}.`, `Reference to invalid field '${name}' ${at}.`]
    case "unavailable-operator":
      return [
        `Reference to invalid operator '${/^-?(has|is):/.test(piece) ? piece : name}'. Operator is not available in current product or product packaging. Please refer to complete available operator list at https://docs.x.com/x-api/posts/filtered-stream/integrate/operators. ${at}`
      ]
    default:
      return invalidValueCodes.has(code)
        ? [`Cannot parse rule at '${piece}' (position ${start})`]
        : [`no viable alternative at input '${piece}' ${at}`]
  }
}

/** Issues with a well-formed clause whose value is invalid. */
const invalidValueCodes: ReadonlySet<string> = new Set([
  "geo-commas",
  "coordinate-range",
  "area-size",
  "box-form",
  "box-order",
  "radius-form",
  "id-digits",
  "context-form",
  "country-form",
  "unknown-language",
  "unknown-value",
  "number-form",
  "range-order",
  "sample-range",
  "value-list",
  "at-sign"
])
