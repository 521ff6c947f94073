/** The form of a rule: name, intent, platforms and a filter for each. */
import { type MutableRef, useRef, useState } from "preact/hooks"
import { Link, useLocation } from "wouter-preact"
import { type Answers, problemOf, type Rule } from "../client.ts"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { platformName } from "../parts/platformName.ts"
import { useReader } from "../Reader.tsx"
import { Conflict } from "./Conflict.tsx"
import {
  type Draft,
  draftOf,
  emptyDraft,
  filterOf,
  type Work,
  withFilter,
  withoutFilter,
  withPlatform,
  withTranslation
} from "./draft.ts"
import { FilterCard } from "./FilterCard.tsx"
import { languageOf } from "./languages.ts"
import { isConflict, useSave } from "./useSave.ts"
import { useWork } from "./useWork.ts"

export const RuleForm = ({
  platforms,
  first,
  rule: given
}: {
  readonly platforms: Platforms
  /** Chosen in a new rule. */
  readonly first: string | undefined
  /** Absent for a new one. */
  readonly rule: Rule | undefined
}) => {
  const { account } = useReader()
  const [, go] = useLocation()
  const [rule, setRule] = useState(given)
  const [firstPlatform] = useState(first)
  const saved = savedWork(rule, firstPlatform)
  const { work, isChanged, isRestored, edit, replace, forget } = useWork(
    `earshot.draft.${account.id}.${given?.id ?? "new"}`,
    saved
  )
  const { draft } = work
  const [isTried, setTried] = useState(false)
  const focus = useRef<Record<string, MutableRef<() => void>>>({})
  const focusOf = (platform: string) => {
    focus.current[platform] ??= { current: () => undefined }
    return focus.current[platform]
  }
  const save = useSave((ruleId) => {
    forget()
    go(`/rules/${ruleId}`)
  })

  /** What was wrong with the draft before may no longer be. */
  const change: Change = (next) => {
    if (save.isError) save.reset()
    edit(next)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    setTried(true)
    const [missing] = withoutFilter(draft)
    if (missing !== undefined) focusOf(missing).current()
    else if (draft.platforms.length > 0 && !save.isPending) save.mutate({ draft, rule, version: work.version })
  }
  const submitByKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    if (event.currentTarget instanceof HTMLFormElement) event.currentTarget.requestSubmit()
  }
  const loadVersion = (latest: Rule) => {
    setRule(latest)
    replace({ draft: draftOf(latest), version: latest.version })
    save.reset()
  }
  const inOrder = [...new Set([...Object.keys(platforms), ...draft.platforms])]
  const problem = save.error === null ? undefined : problemOf(save.error)
  const title = rule === undefined ? "New rule" : `Edit “${rule.name}”`

  return (
    <form class="rule-form" onSubmit={submit} onKeyDown={submitByKey}>
      <div class="head">
        <h1>{title}</h1>
      </div>
      {isRestored && (
        <p class="draft-note">
          Your unsaved changes were restored.{" "}
          <button type="button" class="plain" onClick={() => replace(saved)}>
            Discard them
          </button>
        </p>
      )}
      <About draft={draft} onChange={change} />
      <PlatformChoice
        platforms={inOrder}
        draft={draft}
        isMissing={isTried && draft.platforms.length === 0}
        onChange={change}
      />
      {inOrder
        .filter((platform) => draft.platforms.includes(platform))
        .map((platform) => {
          const help = platforms[platform]
          return help === undefined ? (
            <p key={platform} class="warning">
              This server does not offer {platformName(platform)}. Its filter stays unchanged.
            </p>
          ) : (
            <FilterCard
              key={platform}
              platform={platform}
              help={help}
              text={filterOf(draft, platform)}
              filters={Object.fromEntries(draft.platforms.map((id) => [id, filterOf(draft, id)]))}
              isMissing={isTried}
              focusRef={focusOf(platform)}
              onChange={(text) => change((draft) => withFilter(draft, platform, text))}
              onTranslation={(other, text) => change((draft) => withTranslation(draft, other, text))}
            />
          )
        })}
      <div class="save-bar">
        {problem !== undefined && isConflict(problem) && rule !== undefined ? (
          <Conflict
            ruleId={rule.id}
            onLoad={loadVersion}
            onOverwrite={(latest) => save.mutate({ draft, rule: latest, version: latest.version })}
          />
        ) : (
          problem !== undefined && <ProblemNote problem={problem} />
        )}
        <button type="submit" class="main" disabled={save.isPending} aria-keyshortcuts="Control+Enter Meta+Enter">
          {save.isPending ? "Saving…" : rule === undefined ? "Create rule" : "Save new version"}
        </button>
        <Link href={rule === undefined ? "/" : `/rules/${rule.id}`} class="button">
          Cancel
        </Link>
        <span class="quiet">{isChanged && "Unsaved changes. Press Ctrl+Enter to save."}</span>
      </div>
    </form>
  )
}

// ---- helpers ----

type Platforms = Answers["platforms"]["syntax"]["platforms"]
type Change = (edit: (draft: Draft) => Draft) => void

const savedWork = (rule: Rule | undefined, firstPlatform: string | undefined): Work =>
  rule === undefined ? { draft: emptyDraft(firstPlatform) } : { draft: draftOf(rule), version: rule.version }

const About = ({ draft, onChange }: { readonly draft: Draft; readonly onChange: Change }) => (
  <div class="form">
    <label>
      Name
      <input
        required
        maxLength={200}
        autocomplete="off"
        placeholder="Earthquakes in Japan"
        value={draft.name}
        onInput={({ currentTarget: { value } }) => onChange((draft) => ({ ...draft, name: value }))}
      />
    </label>
    <label>
      Intent: what should it find, and why?
      <textarea
        required
        rows={2}
        maxLength={4000}
        placeholder="Find strong earthquakes within a minute, so that we can warn our team"
        value={draft.intent}
        onInput={({ currentTarget: { value } }) => onChange((draft) => ({ ...draft, intent: value }))}
      />
    </label>
  </div>
)

const PlatformChoice = ({
  platforms,
  draft,
  isMissing,
  onChange
}: {
  readonly platforms: ReadonlyArray<string>
  readonly draft: Draft
  readonly isMissing: boolean
  readonly onChange: Change
}) => (
  <fieldset class="platform-choice">
    <legend>Where to watch</legend>
    {platforms.map((platform) => (
      <label class="check" key={platform}>
        <input
          type="checkbox"
          checked={draft.platforms.includes(platform)}
          onChange={({ currentTarget: { checked } }) => onChange((draft) => withPlatform(draft, platform, checked))}
        />
        {platformName(platform)} <span class="quiet">{languageOf(platform).events}</span>
      </label>
    ))}
    {isMissing && (
      <p class="problem" role="alert">
        Choose at least one platform.
      </p>
    )}
  </fieldset>
)
