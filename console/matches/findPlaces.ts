/** Finds the words that a filter matched, with the languages' own code. It is large: loaded after the list is shown. */
import { blueskyEvent } from "../../core/syntax/bluesky/event.ts"
import { fieldNames as blueskyNames } from "../../core/syntax/bluesky/fieldNames.ts"
import { blueskyDialect } from "../../core/syntax/bluesky/operators.ts"
import type { PlatformEvent } from "../../core/syntax/expression/eventFields.ts"
import { type Explanation, explainInTurns } from "../../core/syntax/expression/explain.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import type { FieldNames } from "../../core/syntax/expression/FieldNames.ts"
import { feedFields, fieldNames as feedNames } from "../../core/syntax/feeds/fields.ts"
import { itemEvent } from "../../core/syntax/feeds/item.ts"
import { firehoseEvent } from "../../core/syntax/firehose/event.ts"
import { fieldNames as firehoseNames } from "../../core/syntax/firehose/fieldNames.ts"
import type { FieldSet } from "../../core/syntax/firehose/fieldSet.ts"
import { firehoseFields } from "../../core/syntax/firehose/fields.ts"
import { check as checkFirehose } from "../../core/syntax/firehose/language.ts"
import { changeEvent } from "../../core/syntax/wikimedia/change.ts"
import { fieldNames as wikimediaNames, wikimediaFields } from "../../core/syntax/wikimedia/fields.ts"
import { type Dialect, xDialect } from "../../core/syntax/x/Dialect.ts"
import { xEvent } from "../../core/syntax/x/event.ts"
import { fieldNames as xNames } from "../../core/syntax/x/fieldNames.ts"
import { check as checkX, lower as lowerX } from "../../core/syntax/x/language.ts"
import type { Match } from "../client.ts"
import { type Place, placesOf } from "./marks.ts"

/** Empty if the platform is unknown, or if finding them takes too much work. */
export const findPlaces = ({ platform, payload, created_at }: Match, filter: string): ReadonlyArray<Place> => {
  const language = LANGUAGES[platform]
  const expression = language && expressionOf(platform, filter, language)
  if (language === undefined || expression === undefined) return []
  const event = language.read(payload, Date.parse(created_at))
  const explanation = event && finishSoon(explainInTurns(expression, event, language.names))
  return explanation?.matched ? placesOf(explanation.clauses) : []
}

// ---- helpers ----

interface FilterLanguage {
  readonly names: FieldNames
  readonly expressionOf: (filter: string) => Expression | undefined
  readonly read: (payload: unknown, now: number) => PlatformEvent | undefined
}

/** The service accepted the filter: the length is no question here. */
const UNLIMITED = { maxLength: Number.POSITIVE_INFINITY }

const likeX =
  (dialect: Dialect = xDialect) =>
  (filter: string): Expression | undefined => {
    const { rule } = checkX(filter, { ...UNLIMITED, dialect })
    return rule && lowerX(rule.ast)
  }

const likeFirehose =
  (fields: FieldSet = firehoseFields) =>
  (filter: string): Expression | undefined =>
    checkFirehose(filter, { ...UNLIMITED, fields }).rule?.expression

const LANGUAGES: Readonly<Record<string, FilterLanguage>> = {
  x: { names: xNames, expressionOf: likeX(), read: (payload) => eventOf(xEvent(payload)) },
  firehose: {
    names: firehoseNames,
    expressionOf: likeFirehose(),
    read: (payload, now) => eventOf(firehoseEvent(payload, { now }))
  },
  bluesky: {
    names: blueskyNames,
    expressionOf: likeX(blueskyDialect),
    read: (payload) => eventOf(blueskyEvent(payload))
  },
  wikimedia: {
    names: wikimediaNames,
    expressionOf: likeFirehose(wikimediaFields),
    read: (payload, now) => eventOf(changeEvent(payload, now))
  },
  feeds: {
    names: feedNames,
    expressionOf: likeFirehose(feedFields),
    read: (payload, now) => eventOf(itemEvent(payload, now))
  }
}

const eventOf = (event: ReturnType<typeof xEvent>): PlatformEvent | undefined =>
  event._tag === "Right" ? event.right : undefined

const expressions = new Map<string, Expression | undefined>()

const expressionOf = (platform: string, filter: string, language: FilterLanguage): Expression | undefined => {
  const key = `${platform} ${filter}`
  if (!expressions.has(key)) expressions.set(key, language.expressionOf(filter))
  return expressions.get(key)
}

/** A turn takes well under a millisecond. */
const MAX_TURNS = 20

const finishSoon = (turns: Generator<void, Explanation>): Explanation | undefined => {
  for (let count = 0; count < MAX_TURNS; count++) {
    const turn = turns.next()
    if (turn.done === true) return turn.value
  }
  return undefined
}
