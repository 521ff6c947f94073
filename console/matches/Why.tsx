/** Why a rule matched: its filter with the clauses that decided, and what each of them found. */
import { useQuery } from "@tanstack/react-query"
import { useEffect } from "preact/hooks"
import { type Answers, type Match, problemOf, useTRPC } from "../client.ts"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { Marked } from "./Marked.tsx"
import { type Clause, excerptOf, type Place, placesOf } from "./marks.ts"

export const Why = ({
  match,
  onPlaces
}: {
  readonly match: Match
  /** Is told what the clauses found. */
  readonly onPlaces: (places: ReadonlyArray<Place>) => void
}) => {
  const { data, error, refetch } = useQuery(
    // The answer stays the same.
    useTRPC().matches.explain.queryOptions({ match_id: match.id }, { staleTime: Number.POSITIVE_INFINITY })
  )
  useEffect(() => data && onPlaces(placesOf(data.clauses)), [data])
  if (data === undefined) {
    return error === null ? (
      <p class="quiet">Loading…</p>
    ) : (
      <ProblemNote problem={problemOf(error)} onRetry={() => void refetch()} />
    )
  }
  const decisive = data.clauses.filter((clause) => isDecisive(clause, data))
  const others = data.clauses.filter((clause) => !isDecisive(clause, data))
  return (
    <div class="why">
      <p>
        <code>
          <Marked pieces={filterPieces(data)} />
        </code>
        <span class="quiet"> · version {data.rule_version}</span>
      </p>
      <p>Decided by</p>
      <Clauses clauses={decisive} />
      {others.length > 0 && (
        <details>
          <summary>{others.length === 1 ? "One other clause" : `${others.length} other clauses`}</summary>
          <Clauses clauses={others} />
        </details>
      )}
    </div>
  )
}

// ---- helpers ----

type Explanation = Answers["matches"]["explain"]

const isDecisive = ({ span }: Clause, { decisive }: Explanation): boolean =>
  decisive.some(({ start, end }) => start === span.start && end === span.end)

const filterPieces = ({ filter, decisive }: Explanation) =>
  excerptOf(
    filter,
    decisive.map((span) => ({ ...span, field: "", value: 0 })),
    Number.POSITIVE_INFINITY
  ).pieces

const Clauses = ({ clauses }: { readonly clauses: ReadonlyArray<Clause> }) => (
  <ul>
    {clauses.map((clause) => (
      <li key={`${clause.span.start} ${clause.description}`}>
        {clause.description}: <strong>{clause.held ? "yes" : "no"}</strong>
        {clause.negated && <span class="quiet"> (excluded)</span>}
        <Found clause={clause} />
      </li>
    ))}
  </ul>
)

const Found = ({ clause: { tested } }: { readonly clause: Clause }) => {
  const [value] = tested?.values ?? []
  if (tested?.place !== undefined) {
    return (
      <>
        , found <mark>{tested.place.text}</mark>
      </>
    )
  }
  return value === undefined ? null : <span class="quiet clipped-value">, tested against “{value}”</span>
}
