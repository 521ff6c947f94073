/** The list of matches. Only the rows in view are in the document. */
import { useWindowVirtualizer } from "@tanstack/react-virtual"
import { memo } from "preact/compat"
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import type { Match, Rule } from "../client.ts"
import { MatchCard } from "./MatchCard.tsx"
import type { Opened } from "./useOpened.ts"

export interface MatchListProps {
  readonly matches: ReadonlyArray<Match>
  readonly rules: ReadonlyMap<string, Rule>
  readonly selected: string | undefined
  readonly openedOf: (id: string) => Opened
  readonly onToggle: (id: string, part: keyof Opened) => void
  readonly onSelect: (id: string) => void
  /** The end of the list is near. */
  readonly onEnd: () => void
  /** The total number is not known yet. */
  readonly hasOlder: boolean
}

export const MatchList = (props: MatchListProps) => {
  const { matches, rules, selected, openedOf, onToggle, onSelect, onEnd, hasOlder } = props
  const list = useRef<HTMLDivElement | null>(null)
  const [margin, setMargin] = useState(0)
  // Reading it makes the browser lay out the page: not while scrolling.
  useLayoutEffect(() => setMargin(list.current?.offsetTop ?? 0), [matches])
  // The same function for the same matches, or all rows are measured again.
  const getItemKey = useCallback((index: number) => matches[index]?.id ?? index, [matches])
  const virtualizer = useWindowVirtualizer<HTMLElement>({
    count: matches.length,
    estimateSize: () => ESTIMATED_HEIGHT,
    getItemKey,
    overscan: 8,
    scrollMargin: margin,
    // The bar stays in view above the list.
    scrollPaddingStart: BAR_HEIGHT,
    scrollPaddingEnd: 16,
    // It moves the rows itself: scrolling within the same rows draws nothing again.
    directDomUpdates: true,
    directDomUpdatesMode: "position"
  })
  const rows = virtualizer.getVirtualItems()

  const lastRow = rows.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasOlder && lastRow >= matches.length - ROWS_AHEAD) onEnd()
  }, [lastRow, matches.length, hasOlder, onEnd])

  const toFocus = useRef<string>()
  const isFocusing = useRef(false)
  useLayoutEffect(() => {
    const index = matches.findIndex(({ id }) => id === selected)
    if (index < 0 || document.activeElement?.closest("article")?.id === selected) return
    toFocus.current = selected
    virtualizer.scrollToIndex(index)
  }, [selected])
  // A row that was out of view is there only after scrolling.
  useLayoutEffect(() => {
    const row = toFocus.current === undefined ? null : document.getElementById(toFocus.current)
    if (row === null) return
    toFocus.current = undefined
    isFocusing.current = true
    row.focus({ preventScroll: true })
    isFocusing.current = false
  })

  return (
    <div
      ref={(element) => {
        list.current = element
        virtualizer.containerRef(element)
      }}
      role="feed"
      aria-label="Matches"
      class="match-list"
    >
      {rows.map(({ index, key }) => {
        const match = matches[index]
        return (
          match !== undefined && (
            <article
              key={key}
              id={match.id}
              ref={virtualizer.measureElement}
              data-index={index}
              tabIndex={selected === match.id ? 0 : -1}
              class={selected === match.id ? "match selected" : "match"}
              aria-label={`Match ${index + 1}`}
              aria-posinset={index + 1}
              aria-setsize={hasOlder ? -1 : matches.length}
              onFocusIn={() => isFocusing.current || onSelect(match.id)}
            >
              <Card match={match} rule={rules.get(match.rule_id)} opened={openedOf(match.id)} onToggle={onToggle} />
            </article>
          )
        )
      })}
    </div>
  )
}

// ---- helpers ----

/** In pixels: of a short post. */
const ESTIMATED_HEIGHT = 120
const BAR_HEIGHT = 64

/** How near the end the next page is asked for. */
const ROWS_AHEAD = 10

/** Scrolling moves a row, but does not draw it again. */
const Card = memo(MatchCard)
