/** Describes hits per clause in words, for the command line and the agent tools. */
import { describeMatchedEvents, type Source } from "../backtests/describe.ts"
import { counted } from "../text/counted.ts"
import type { FilterHits } from "./Hits.ts"

/** `show` prepares the text of a filter. The lines have no text of events. */
export const describeHits = (
  source: Source,
  hits: FilterHits,
  show: (text: string) => string
): ReadonlyArray<string> => {
  const platform = source.id
  const { filter, state, basis, tested, matched, parts, note } = hits
  const nameOf = (part: Part) => nameOfPart(part, hits, show)
  const blocking = parts.filter(({ blocked }) => blocked > 0)
  const [only, ...others] = parts
  const isNeverTogether = matched === 0 && others.length > 0 && parts.every(({ held }) => held > 0)
  // The only part is the filter itself: its alternatives are all that is left to say.
  const listed = others.length > 0 || (only !== undefined && clausesIn(only, hits).length > 1) ? parts : []
  return [
    `On ${platform}, ${matched} of the newest ${counted(tested, "event")} ${matched === 1 ? "matches" : "match"} ${show(filter)}`,
    ...listed.map((part) =>
      [
        `- ${nameOf(part)}: ${part.held} of ${tested}${describeAlternatives(part, hits, show)}`,
        ...(part.blocked === 0 || isNeverTogether || others.length === 0
          ? []
          : [`without it, ${counted(part.blocked, "more event")} would match`])
      ].join("; ")
    ),
    ...(isNeverTogether
      ? [
          `No event has all of these; ${blocking.length === 0 ? "leaving out one of them is not enough" : blocking.map((part) => `without ${nameOf(part)}: ${counted(part.blocked, "match", "matches")}`).join(", ")}`
        ]
      : []),
    ...(state === "active" ? [] : [`The rule is ${state} on ${platform}: list the rules to see why`]),
    ...(basis === "matched_events" ? [describeMatchedEvents(source)] : []),
    ...(note === undefined ? [] : [note])
  ]
}

// ---- helpers ----

type Part = FilterHits["parts"][number]
type Clause = FilterHits["clauses"][number]

/** Says what is tested if the filter has the same text twice: `title:(party) AND party`. */
const nameOfPart = (part: Part, hits: FilterHits, show: (text: string) => string): string => {
  const [only, ...others] = clausesIn(part, hits)
  return only === undefined || others.length > 0
    ? show(part.text)
    : nameOfClause({ ...only, text: part.text }, hits, show)
}

const nameOfClause = (
  { text, span, description }: Clause,
  { clauses }: FilterHits,
  show: (text: string) => string
): string =>
  clauses.some((other) => other.text === text && other.span.start !== span.start)
    ? `${show(text)} (${description})`
    : show(text)

/** How often each alternative of a group held. */
const describeAlternatives = (part: Part, hits: FilterHits, show: (text: string) => string): string => {
  const clauses = clausesIn(part, hits)
  if (clauses.length < 2) return ""
  const named = clauses.slice(0, MAX_ALTERNATIVES).map((clause) => `${nameOfClause(clause, hits, show)} ${clause.held}`)
  const rest = clauses.length - named.length
  return ` (${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""})`
}

const MAX_ALTERNATIVES = 20

const clausesIn = ({ span: { start, end } }: Part, { clauses }: FilterHits): ReadonlyArray<Clause> =>
  clauses.filter(({ span }) => span.start >= start && span.end <= end)
