/** The issues of a filter as text, each with its fix. */
import { Prose } from "./Prose.tsx"
import type { FilterCheck } from "./useCheck.ts"

export const Issues = ({
  check: { text, result },
  onFix
}: {
  readonly check: FilterCheck
  readonly onFix: (text: string) => void
}) => {
  const { issues = [], fixed } = result ?? {}
  return (
    <div class="issues" role="status">
      {result?.valid === true && issues.length === 0 && <p class="fine">The filter is valid.</p>}
      {issues.map(({ severity, span, message, fix, code }) => (
        <div class={`issue ${severity}`} key={`${code} ${span.start}`}>
          <p>
            <strong>{severity === "error" ? "Error" : "Warning"}</strong>
            {span.end > span.start && (
              <>
                {" at "}
                <code>{text.slice(span.start, span.end)}</code>
              </>
            )}
            {": "}
            <Prose>{message}</Prose>
          </p>
          {fix !== undefined && (
            <button type="button" onClick={() => onFix(fix.text)}>
              Fix: <Prose>{fix.message}</Prose>
            </button>
          )}
        </div>
      ))}
      {fixed !== undefined && (
        <button type="button" onClick={() => onFix(fixed)}>
          Apply all fixes
        </button>
      )}
    </div>
  )
}
