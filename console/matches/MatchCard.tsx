/** One match: its event drawn as a post, a page, a change or an item, why it matched, and its JSON. */
import { useMemo, useState } from "preact/hooks"
import { Link } from "wouter-preact"
import type { Match, Rule } from "../client.ts"
import { platformName } from "../parts/platformName.ts"
import { Time } from "../parts/Time.tsx"
import { contentOf } from "./content.ts"
import { MatchContent } from "./MatchContent.tsx"
import type { Place } from "./marks.ts"
import type { Opened } from "./useOpened.ts"
import { usePlaces } from "./usePlaces.ts"
import { Why } from "./Why.tsx"

export const MatchCard = ({
  match,
  rule,
  opened,
  onToggle
}: {
  readonly match: Match
  readonly rule: Rule | undefined
  readonly opened: Opened
  readonly onToggle: (id: string, part: keyof Opened) => void
}) => {
  const toggle = (part: keyof Opened) => onToggle(match.id, part)
  const content = useMemo(() => contentOf(match), [match])
  const [explained, setExplained] = useState<ReadonlyArray<Place>>()
  const found = usePlaces(match, rule)
  const published = content?.publishedAt
  return (
    <>
      <header class="match-head">
        <span class="match-author">
          {content?.name !== undefined && <strong>{content.name}</strong>}
          {content?.source !== undefined && <span class="quiet">{content.source}</span>}
          {content?.facts?.map((fact) => (
            <span key={fact} class="quiet match-fact">
              {fact}
            </span>
          ))}
        </span>
        <span class="match-facts quiet">
          <span>{platformName(match.platform)}</span>
          <Link href={`/rules/${match.rule_id}`}>{rule?.name ?? "an unknown rule"}</Link>
          {match.reapplied && (
            <span title="The rule did not have this filter when the event was received">added later</span>
          )}
          <Time at={match.created_at} />
        </span>
      </header>
      {match.redacted !== undefined ? (
        <p class="quiet match-redacted">
          {REASONS[match.redacted.reason]} Its content was removed here too: <Time at={match.redacted.at} form="full" />
        </p>
      ) : content === undefined ? (
        <p class="quiet">This event cannot be displayed: see its JSON.</p>
      ) : (
        <MatchContent
          content={content}
          places={explained ?? found}
          isWhole={opened.whole}
          onWhole={() => toggle("whole")}
        />
      )}
      <footer class="match-foot">
        {content?.link !== undefined && (
          <a href={content.link} target="_blank" rel="noopener noreferrer">
            Open {content.kind}
          </a>
        )}
        {match.redacted === undefined && (
          <button type="button" class="plain opener" aria-expanded={opened.why} onClick={() => toggle("why")}>
            Why
          </button>
        )}
        <button type="button" class="plain opener" aria-expanded={opened.json} onClick={() => toggle("json")}>
          JSON
        </button>
        {published !== undefined && isEarlier(published, match) && (
          <span class="quiet">
            published <Time at={new Date(published).toISOString()} />
          </span>
        )}
      </footer>
      {opened.why && match.redacted === undefined && <Why match={match} onPlaces={setExplained} />}
      {opened.json && <pre class="match-json">{JSON.stringify(match, null, 2)}</pre>}
    </>
  )
}

// ---- helpers ----

const REASONS: Readonly<Record<NonNullable<Match["redacted"]>["reason"], string>> = {
  deleted: "The post was deleted on the platform.",
  withheld: "The platform is withholding the post.",
  edited: "The post was edited: the new version is a separate post.",
  operator: "The operator of this server removed the post."
}

/** By more than a minute. */
const isEarlier = (published: number, { created_at }: Match): boolean => Date.parse(created_at) - published > 60_000
