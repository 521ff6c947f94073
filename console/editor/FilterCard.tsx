/** The filter of one platform: editor, issues, translation, test, and explanation. */
import { type MutableRef, useMemo, useState } from "preact/hooks"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { platformName } from "../parts/platformName.ts"
import { Backtest } from "./Backtest.tsx"
import { completionsOf, type SyntaxHelp } from "./completion.ts"
import { FilterEditor } from "./FilterEditor.tsx"
import { Issues } from "./Issues.tsx"
import { Examples, LanguageGuide } from "./LanguageGuide.tsx"
import { languageOf } from "./languages.ts"
import { Translations } from "./Translations.tsx"
import { useCheck } from "./useCheck.ts"
import { WhyNot } from "./WhyNot.tsx"

export const FilterCard = ({
  platform,
  help,
  text,
  filters,
  isMissing,
  focusRef,
  onChange,
  onTranslation
}: {
  readonly platform: string
  readonly help: SyntaxHelp
  readonly text: string
  /** The filters of the chosen platforms. */
  readonly filters: Readonly<Record<string, string>>
  /** The reader tried to save without this filter. */
  readonly isMissing: boolean
  readonly focusRef: MutableRef<() => void>
  readonly onChange: (text: string) => void
  readonly onTranslation: (platform: string, text: string) => void
}) => {
  const check = useCheck(platform, text)
  const completions = useMemo(() => completionsOf(help.operators), [help])
  const checked = useMemo(() => ({ text: check.text, issues: check.result?.issues ?? [] }), [check])
  const [tried, setTried] = useState<{ readonly event: unknown; readonly count: number }>({
    event: undefined,
    count: 0
  })
  const isEmpty = text.trim() === ""
  const { events, starter } = languageOf(platform)
  const apply = (next: string) => {
    onChange(next)
    focusRef.current()
  }
  /** A fix is of the text that was checked: it would undo what was typed since. */
  const applyFix = (fixed: string) => {
    if (check.text === text) apply(fixed)
  }
  return (
    <section class="filter-card" aria-labelledby={`filter-${platform}`}>
      <h2 id={`filter-${platform}`}>
        Filter for {platformName(platform)} {events}
      </h2>
      <div class="filter-columns">
        <div>
          <FilterEditor
            platform={platform}
            text={text}
            checked={checked}
            completions={completions}
            focusRef={focusRef}
            onChange={onChange}
          />
          {isMissing && isEmpty && (
            <p class="problem" role="alert">
              Write a filter for {platformName(platform)}, or start with an example.
            </p>
          )}
          {check.problem !== undefined && <ProblemNote problem={check.problem} />}
          {!isEmpty && <Issues check={check} onFix={applyFix} />}
        </div>
        <div class="beside">
          {isEmpty ? (
            <>
              <h3>Start with an example</h3>
              <Examples examples={[starter, ...help.examples.slice(0, 2)]} onUse={apply} />
            </>
          ) : check.result?.valid !== true ? (
            <p class="quiet">Translations for other platforms appear here once the filter is valid.</p>
          ) : (
            <Translations
              text={check.text}
              translations={check.result.translations}
              filters={filters}
              onUse={onTranslation}
            />
          )}
        </div>
        <div class="filter-tools">
          {!isEmpty && (
            <>
              <Backtest
                platform={platform}
                text={text}
                onTry={(event) => setTried(({ count }) => ({ event, count: count + 1 }))}
              />
              <WhyNot key={tried.count} platform={platform} text={text} tried={tried.event} onUse={apply} />
            </>
          )}
          <LanguageGuide
            platform={platform}
            help={help}
            onUse={apply}
            onAdd={(operator) => apply(isEmpty ? operator : `${text.trimEnd()} ${operator}`)}
          />
        </div>
      </div>
    </section>
  )
}
