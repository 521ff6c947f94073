/** Wire schemas of issues, translations and explanations. */
import { Schema } from "effect"
import { optional } from "./optional.ts"
import { PlatformId } from "./PlatformId.ts"

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
  expected: optional(Schema.Array(Schema.String)),
  fix: optional(WireFix)
}).annotations({ identifier: "SyntaxIssue" })

const Fidelity = Schema.Literal("exact", "wider", "narrower", "different", "impossible").annotations({
  identifier: "Fidelity"
})

const LossEffect = Schema.Literal("wider", "narrower")

const WireWitness = Schema.Struct({
  effect: LossEffect.annotations({
    description:
      "wider: the translation matches its event, and the rule does not match the same content on its own platform. narrower: the other way round"
  }),
  matched_by: PlatformId.annotations({ description: "The platform whose filter matches its event" }),
  events: Schema.Record({
    key: PlatformId,
    value: Schema.Record({ key: Schema.String, value: Schema.Unknown })
  }).annotations({
    description:
      "The same content in the format of each platform, ready to be sent as events of /rules/check, each with a filter of its platform. The text of a post is the added text of a page, its link the address of the page; what only one platform knows is in one event only"
  })
}).annotations({
  identifier: "Witness",
  description: "An example for a loss. Both filters were run on it, and the lost clause alone makes the difference"
})

const WireTranslatedClause = Schema.Struct({
  span: WireSpan,
  fidelity: Fidelity,
  reason: Schema.String,
  effects: optional(
    Schema.Array(LossEffect),
    "How the loss of the clause changes the rule. Absent if nothing is lost, or if there is no translation"
  ),
  witnesses: optional(
    Schema.Array(WireWitness),
    "At most one example for each effect. Absent if there is none: the platforms may differ, but Earshot found no event that shows it"
  )
}).annotations({ identifier: "TranslatedClause" })

export const WireTranslation = Schema.Struct({
  text: optional(Schema.String, "A valid rule for the other platform. Absent if there is no translation"),
  fidelity: Fidelity,
  clauses: Schema.Array(WireTranslatedClause),
  reason: optional(Schema.String),
  notes: optional(
    Schema.Array(Schema.String),
    "What was left out without a loss, and why: the other platform has nothing that the clause excludes or requires. Absent if nothing was"
  ),
  incomplete: optional(
    Schema.String,
    "Why witnesses may be missing: the search for them stopped, as the filter is large. Absent if all were looked for"
  )
}).annotations({ identifier: "Translation" })

const Tested = Schema.Struct({
  field: Schema.String.annotations({ description: "The field of the event, such as x.text" }),
  values: Schema.Array(Schema.String).annotations({
    description: "The first five values of the field, each cut to 200 characters. Empty if the event has none"
  }),
  count: Schema.Number.annotations({
    jsonSchema: { type: "integer", minimum: 0 },
    description: "How many values the field has"
  }),
  place: optional(
    Schema.Struct({
      value: Schema.Number.annotations({
        jsonSchema: { type: "integer", minimum: 0 },
        description: "Index of the value, counted from 0"
      }),
      start: Schema.Number,
      end: Schema.Number,
      text: Schema.String.annotations({ description: "The text at the place, cut to 200 characters" })
    }),
    "Where the clause held: a half-open range of UTF-16 code units in the uncut value. Absent if the clause did not hold, and for numbers, ages and places on the map"
  )
}).annotations({ identifier: "Tested" })

export const WireChange = Schema.Struct({
  kind: Schema.Literal("change", "remove", "remove_several", "add").annotations({
    description:
      "change: one clause gets another value. remove: one clause or group is removed. remove_several: several clauses of one group are removed. add: one clause gets an alternative"
  }),
  message: Schema.String.annotations({ description: "The change in words" }),
  clauses: Schema.Array(WireSpan).annotations({ description: "The clauses that change" }),
  text: Schema.String.annotations({ description: "The changed filter: it is valid and matches the event" })
}).annotations({ identifier: "FilterChange" })

export const WireExplanation = Schema.Struct({
  matched: Schema.Boolean,
  clauses: Schema.Array(
    Schema.Struct({
      span: WireSpan,
      held: Schema.Boolean,
      negated: Schema.Boolean.annotations({ description: "The filter excludes events on which the clause holds" }),
      description: Schema.String,
      tested: optional(
        Tested,
        "What the clause was tested on. Absent for a clause that is the same for all events, and for a flag such as is:retweet"
      )
    })
  ),
  decisive: Schema.Array(WireSpan).annotations({
    description:
      "The smallest set of clauses that decided the result. If the rule did not match: it would have, had these clauses given the opposite result"
  }),
  changes: optional(
    Schema.Array(WireChange),
    "If the rule did not match: up to three changes of the filter, each of which alone is enough, the smallest first. Each was tested on the event. Empty if no single change is enough with which the filter still looks for what it looked for; absent in a comparison"
  ),
  incomplete: optional(
    Schema.String,
    "Why changes may be missing: the search for them stopped, as the filter or the event is large. Absent if all were looked for"
  )
}).annotations({ identifier: "Explanation" })
