/** A text with the matched words marked. */
import type { Piece } from "./marks.ts"

export const Marked = ({ pieces }: { readonly pieces: ReadonlyArray<Piece> }) => (
  <>{pieces.map(({ text, isMarked }, index) => (isMarked ? <mark key={index}>{text}</mark> : text))}</>
)
