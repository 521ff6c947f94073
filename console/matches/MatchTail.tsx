/** The matches of one filter: the live tail, and what is selected and opened in it. */
import { useCallback, useEffect, useMemo, useState } from "preact/hooks"
import { Link } from "wouter-preact"
import type { Match, Rule } from "../client.ts"
import { Empty } from "../parts/Empty.tsx"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { Waiting } from "../parts/Waiting.tsx"
import { useReader } from "../Reader.tsx"
import { FILTER_ID } from "./FilterForm.tsx"
import { addressOf, type Filter } from "./filter.ts"
import { KeyHelp } from "./KeyHelp.tsx"
import { type KeyAction, useKeys } from "./keys.ts"
import { MatchList } from "./MatchList.tsx"
import { OpenGaps } from "./OpenGaps.tsx"
import { TailBar } from "./TailBar.tsx"
import { isFull, MAX_KEPT, type Tail } from "./tail.ts"
import { useOpened } from "./useOpened.ts"
import { useTail } from "./useTail.ts"

export const MatchTail = ({
  filter,
  rules,
  hasNoRules
}: {
  readonly filter: Filter
  readonly rules: ReadonlyArray<Rule>
  /** It is known that there are none. Matches of deleted rules may be stored. */
  readonly hasNoRules: boolean
}) => {
  const { tail, connection, problem, isLoadingOlder, loadOlder, hold } = useTail(filter)
  const [isPaused, setPaused] = useState(false)
  const [isHelpOpen, setHelpOpen] = useState(false)
  const [selected, setSelected] = useState<string>()
  const isScrolled = useIsScrolled()
  const { openedOf, toggle } = useOpened()
  const byId = useMemo(() => new Map(rules.map((rule) => [rule.id, rule])), [rules])

  // What is being read does not move.
  useEffect(() => hold(isPaused || isScrolled || selected !== undefined), [isPaused, isScrolled, selected])

  const showNewest = () => {
    setPaused(false)
    setSelected(undefined)
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    window.scrollTo(0, 0)
  }
  // After a failure the reader asks for more.
  const loadAhead = useCallback(() => {
    if (problem === undefined) loadOlder()
  }, [problem, loadOlder])
  const shown = tail?.shown ?? []
  const current = shown.find(({ id }) => id === selected)
  const step = (by: 1 | -1) =>
    setSelected((from) => {
      const index = shown.findIndex(({ id }) => id === from)
      return index < 0 ? firstInView(shown) : (shown[index + by]?.id ?? from)
    })
  const perform: Readonly<Record<KeyAction, () => void>> = {
    next: () => step(1),
    previous: () => step(-1),
    json: () => current && toggle(current.id, "json"),
    why: () => current && toggle(current.id, "why"),
    filter: () => document.getElementById(FILTER_ID)?.focus(),
    pause: () => setPaused(!isPaused),
    top: showNewest,
    help: () => setHelpOpen(true)
  }
  useKeys((action) => perform[action]())

  if (hasNoRules && shown.length === 0 && problem === undefined) return <NoRules />
  return (
    <>
      <TailBar
        connection={connection}
        to={filter.to}
        isPaused={isPaused}
        waiting={tail?.waiting.length ?? 0}
        onPause={perform.pause}
        onNewest={showNewest}
        onHelp={perform.help}
      />
      {problem !== undefined && <ProblemNote problem={problem} />}
      {tail !== undefined && filter.to === undefined && <OpenGaps coverage={tail.coverage} rules={byId} />}
      {tail === undefined ? (
        problem === undefined && <Waiting />
      ) : shown.length === 0 ? (
        <NoMatches filter={filter} />
      ) : (
        <MatchList
          matches={shown}
          rules={byId}
          selected={selected}
          openedOf={openedOf}
          onToggle={toggle}
          onSelect={setSelected}
          onEnd={loadAhead}
          hasOlder={tail.older !== undefined}
        />
      )}
      {tail !== undefined && shown.length > 0 && (
        <End tail={tail} filter={filter} isLoading={isLoadingOlder} onOlder={loadOlder} />
      )}
      {isHelpOpen && <KeyHelp onClose={() => setHelpOpen(false)} />}
    </>
  )
}

// ---- helpers ----

/** Further than a touch of the wheel. */
const SCROLLED = 40

const useIsScrolled = (): boolean => {
  const [isScrolled, setScrolled] = useState(false)
  useEffect(() => {
    const listen = () => setScrolled(window.scrollY > SCROLLED)
    listen()
    window.addEventListener("scroll", listen, { passive: true })
    return () => window.removeEventListener("scroll", listen)
  }, [])
  return isScrolled
}

const firstInView = (matches: ReadonlyArray<Match>): string | undefined =>
  matches.find(({ id }) => (document.getElementById(id)?.getBoundingClientRect().top ?? -1) >= 0)?.id

const NoRules = () => {
  const { may } = useReader()
  return (
    <Empty title="No rules yet">
      {may("write") ? (
        <>
          <Link href="/rules/new">Create your first rule</Link> to get matches.
        </>
      ) : (
        "To create a rule, sign in with a key that has write access."
      )}
    </Empty>
  )
}

const NoMatches = ({ filter }: { readonly filter: Filter }) => {
  const isNarrow = filter.from !== undefined || filter.to !== undefined || filter.platform !== undefined
  return (
    <Empty title={isNarrow ? "No matches for this filter" : "No matches yet"}>
      {filter.to !== undefined
        ? "Choose another time, or clear the filter."
        : "New matches appear here as soon as they are stored."}
    </Empty>
  )
}

const End = ({
  tail,
  filter,
  isLoading,
  onOlder
}: {
  readonly tail: Tail
  readonly filter: Filter
  readonly isLoading: boolean
  readonly onOlder: () => void
}) => {
  const oldest = tail.shown.at(-1)
  if (isFull(tail) && oldest !== undefined) {
    return (
      <p class="quiet match-end">
        This page shows up to {MAX_KEPT.toLocaleString()} matches. Older ones are still stored.{" "}
        <Link href={addressOf({ ...filter, to: oldest.created_at })}>Show older matches</Link>
      </p>
    )
  }
  return (
    <p class="quiet match-end">
      {tail.older === undefined ? (
        "No older matches."
      ) : (
        <button type="button" disabled={isLoading} onClick={onOlder}>
          {isLoading ? "Loading…" : "Show older matches"}
        </button>
      )}
    </p>
  )
}
