/** A secret that is shown once, to copy. */
import { useEffect, useRef, useState } from "preact/hooks"

export const Secret = ({
  title,
  secret,
  hint,
  onDone
}: {
  readonly title: string
  readonly secret: string
  readonly hint: string
  readonly onDone: () => void
}) => {
  const [copied, setCopied] = useState("")
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const copy = () =>
    navigator.clipboard.writeText(secret).then(
      () => setCopied("Copied"),
      () => setCopied("This browser blocks copying: select the text and copy it yourself")
    )
  return (
    <section class="card secret">
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <p>{hint} Copy it now: it is shown only once.</p>
      <p>
        <code class="secret-text">{secret}</code>
      </p>
      <div class="buttons">
        <span role="status" class="quiet">
          {copied}
        </span>
        <button type="button" class="main" onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" onClick={onDone}>
          I have saved it
        </button>
      </div>
    </section>
  )
}
