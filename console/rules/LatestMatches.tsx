/** The newest matches of a rule, in short. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter-preact"
import { type Match, type Rule, useTRPC } from "../client.ts"
import { contentOf, isAlwaysShown } from "../matches/content.ts"
import { OpenGaps } from "../matches/OpenGaps.tsx"
import { openGapsIn } from "../matches/tail.ts"
import { platformName } from "../parts/platformName.ts"
import { Time } from "../parts/Time.tsx"
import { Waiting } from "../parts/Waiting.tsx"

export const LatestMatches = ({ rule }: { readonly rule: Rule }) => {
  const { data } = useQuery(
    useTRPC().matches.list.queryOptions({ rule_id: rule.id, limit: SHOWN }, { refetchInterval: REFRESH_MILLIS })
  )
  return (
    <section>
      <h2>Latest matches</h2>
      {data === undefined && <Waiting />}
      {data !== undefined && <OpenGaps coverage={data.coverage} rules={new Map([[rule.id, rule]])} />}
      {data?.matches.length === 0 && (
        <p class="quiet" role="status">
          None yet.{openGapsIn(data.coverage).length === 0 && " New matches appear here within seconds."}
        </p>
      )}
      <ol class="rows">
        {(data?.matches ?? []).map((match) => (
          <li class="row" key={match.id}>
            <span class="clipped latest-text">{textOf(match)}</span>
            <span class="quiet">
              {platformName(match.platform)} · <Time at={match.created_at} />
            </span>
          </li>
        ))}
      </ol>
      <p>
        <Link href={`/matches?rule=${rule.id}`}>All matches, live</Link>
        {" · "}
        <Link href={`/coverage?rule=${rule.id}`}>Coverage and volume</Link>
      </p>
    </section>
  )
}

// ---- helpers ----

const SHOWN = 5
const REFRESH_MILLIS = 3_000

/** Of an event of an unknown form. */
const MAX_JSON = 200

const textOf = (match: Match): string => {
  if (match.redacted !== undefined) return "Content removed"
  const content = contentOf(match)
  if (content === undefined) return JSON.stringify(match.payload).slice(0, MAX_JSON)
  const texts = content.parts.filter(isAlwaysShown).map(({ text }) => text)
  const shown = texts.length === 0 ? (content.facts ?? []) : texts
  return [content.source, shown.join(" · ")].filter((text) => text !== undefined && text !== "").join(": ")
}
