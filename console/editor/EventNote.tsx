/** An event in a few lines: author, text and link, as text. */
import { languageOf } from "./languages.ts"

export const EventNote = ({ platform, event }: { readonly platform: string; readonly event: unknown }) => {
  const { author, text, link } = languageOf(platform).summaryOf(event)
  return (
    <>
      {author !== undefined && <strong>{author}</strong>}{" "}
      <span class="event-text">{text ?? JSON.stringify(event)}</span>{" "}
      {link !== undefined && /^https?:\/\//i.test(link) && (
        <a href={link} rel="noopener noreferrer" target="_blank">
          Open
        </a>
      )}
    </>
  )
}
