/** Wire schemas of issues, translations and explanations. */
import { Schema } from "effect"
import type { Translation } from "../syntax/translation/translate.ts"

export const WireSpan = Schema.Struct({ start: Schema.Number, end: Schema.Number }).annotations({
  identifier: "Span",
  description: "A half-open range of UTF-16 code units in the rule text, counted from 0"
})

export const WireFix = Schema.Struct({
  message: Schema.String,
  text: Schema.String.annotations({ description: "The complete rule text with this issue fixed" })
}).annotations({ identifier: "Fix" })

export const WireIssue = Schema.Struct({
  severity: Schema.Literal("error", "warning"),
  code: Schema.String,
  span: WireSpan,
  message: Schema.String,
  expected: Schema.optionalWith(Schema.Array(Schema.String), { exact: true }),
  fix: Schema.optionalWith(WireFix, { exact: true })
}).annotations({ identifier: "SyntaxIssue" })

const Fidelity = Schema.Literal("exact", "wider", "narrower", "different", "impossible").annotations({
  identifier: "Fidelity"
})

export const WireTranslation = Schema.Struct({
  text: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "A valid rule for the other platform. Absent if there is no translation"
  }),
  fidelity: Fidelity,
  clauses: Schema.Array(Schema.Struct({ span: WireSpan, fidelity: Fidelity, reason: Schema.String })),
  reason: Schema.optionalWith(Schema.String, { exact: true })
}).annotations({ identifier: "Translation" })

export const WireExplanation = Schema.Struct({
  matched: Schema.Boolean,
  clauses: Schema.Array(Schema.Struct({ span: WireSpan, held: Schema.Boolean, description: Schema.String })),
  decisive: Schema.Array(WireSpan).annotations({
    description:
      "The smallest set of clauses that decided the result. If the rule did not match: it would have, had these clauses given the opposite result"
  })
}).annotations({ identifier: "Explanation" })

export const toWireTranslation = ({ text, ...rest }: Translation): typeof WireTranslation.Type =>
  text === undefined ? rest : { text, ...rest }
