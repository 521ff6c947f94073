/** The same filter in the languages of the other platforms, and what is lost. */

import { platformName } from "../parts/platformName.ts"
import { languageOf } from "./languages.ts"
import { Prose } from "./Prose.tsx"
import type { CheckedFilter } from "./useCheck.ts"

type Translation = CheckedFilter["translations"][string]
type Clause = Translation["clauses"][number]

export const Translations = ({
  text,
  translations,
  filters,
  onUse
}: {
  /** The filter that was translated. */
  readonly text: string
  readonly translations: CheckedFilter["translations"]
  /** The present filters of the chosen platforms. */
  readonly filters: Readonly<Record<string, string>>
  readonly onUse: (platform: string, text: string) => void
}) => (
  <>
    {Object.entries(translations).map(([platform, translation]) => (
      <section class="translation" key={platform} aria-label={`Translation to ${platformName(platform)}`}>
        <h3>
          On {platformName(platform)}:{" "}
          <span class={`fidelity ${translation.fidelity}`}>{MEANINGS[translation.fidelity]}</span>
        </h3>
        {translation.text !== undefined && <pre>{translation.text}</pre>}
        {translation.reason !== undefined && (
          <p>
            <Prose>{translation.reason}</Prose>
          </p>
        )}
        {translation.text !== undefined && (
          <UseButton platform={platform} text={translation.text} present={filters[platform]} onUse={onUse} />
        )}
        <Losses text={text} clauses={translation.clauses} />
      </section>
    ))}
  </>
)

// ---- helpers ----

const MEANINGS: Readonly<Record<Translation["fidelity"], string>> = {
  exact: "matches the same",
  wider: "matches more",
  narrower: "matches less",
  different: "matches some more, some less",
  impossible: "no translation"
}

const UseButton = ({
  platform,
  text,
  present,
  onUse
}: {
  readonly platform: string
  readonly text: string
  readonly present: string | undefined
  readonly onUse: (platform: string, text: string) => void
}) =>
  present?.trim() === text ? (
    <p class="quiet">This is already the filter for {platformName(platform)}.</p>
  ) : (
    <button type="button" onClick={() => onUse(platform, text)}>
      Use this for {platformName(platform)}
    </button>
  )

const Losses = ({ text, clauses }: { readonly text: string; readonly clauses: ReadonlyArray<Clause> }) => {
  const lost = clauses.filter(({ fidelity }) => fidelity !== "exact")
  if (lost.length === 0) return null
  return (
    <ul class="losses">
      {lost.map((clause) => (
        <li key={clause.span.start}>
          <code>{text.slice(clause.span.start, clause.span.end)}</code>: <Prose>{clause.reason}</Prose>
          {clause.witnesses?.map(({ effect, matched_by, events }) => (
            <p class="quiet" key={effect}>
              For example, only {platformName(matched_by)} matches:{" "}
              {languageOf(matched_by).summaryOf(events[matched_by]).text}
            </p>
          ))}
        </li>
      ))}
    </ul>
  )
}
