/** The texts of an event, with the matched words marked. */
import type { ComponentChildren } from "preact"
import { type Content, isAlwaysShown, type Part } from "./content.ts"
import { Marked } from "./Marked.tsx"
import { excerptOf, type Place, repeatedIn } from "./marks.ts"

export const MatchContent = ({
  content,
  places,
  isWhole,
  onWhole
}: {
  readonly content: Content
  readonly places: ReadonlyArray<Place>
  /** Long texts are not cut. */
  readonly isWhole: boolean
  readonly onWhole: () => void
}) => {
  const all = content.parts.map((part) => ({ part, places: repeatedIn(part, content.parts, places) }))
  const marked = all.filter(({ part, places }) => isAlwaysShown(part) || places.length > 0)
  const shown = isWhole ? marked : firstOf(marked)
  const texts = shown.map(({ part, places }) => ({
    part,
    excerpt: excerptOf(part.text, places, isWhole ? Number.POSITIVE_INFINITY : MAX_TEXT)
  }))
  const isCut = shown.length < marked.length || texts.some(({ excerpt }) => excerpt.isCut)
  return (
    <div class="match-content">
      {texts.map(({ part, excerpt }) => (
        <Text key={`${part.field} ${part.value}`} part={part}>
          <Marked pieces={excerpt.pieces} />
        </Text>
      ))}
      {isCut && (
        <button type="button" class="plain" onClick={onWhole}>
          Show all
        </button>
      )}
    </div>
  )
}

// ---- helpers ----

const MAX_TEXT = 500
const MAX_PARTS = 4

interface MarkedPart {
  readonly part: Part
  readonly places: ReadonlyArray<Place>
}

/** Those with marked words go first, in the order of the event. */
const firstOf = (parts: ReadonlyArray<MarkedPart>): ReadonlyArray<MarkedPart> => {
  const byMarks = parts.toSorted((a, b) => Number(b.places.length > 0) - Number(a.places.length > 0))
  const kept = new Set(byMarks.slice(0, MAX_PARTS))
  return parts.filter((part) => part.part.kind === "title" || kept.has(part))
}

const Text = ({ part: { kind }, children }: { readonly part: Part; readonly children: ComponentChildren }) => {
  switch (kind) {
    case "title":
      return <h2 class="match-title">{children}</h2>
    case "quoted":
      return <blockquote>{children}</blockquote>
    case "added":
      return (
        <p class="added">
          <span class="unseen">Added: </span>
          {children}
        </p>
      )
    case "removed":
      return (
        <p class="removed">
          <span class="unseen">Removed: </span>
          {children}
        </p>
      )
    case "text":
      return <p>{children}</p>
    case "alt":
      return <p class="quiet">image: {children}</p>
    case "card":
    case "link":
      return <p class="quiet">links to {children}</p>
  }
}
