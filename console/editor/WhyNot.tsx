/** Explains a filter on a pasted event, and offers changes that make it match. */
import { useMutation } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "preact/hooks"
import { type Problem, problemOf, useTRPCClient } from "../client.ts"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { eventIn, isJson } from "./eventIn.ts"
import { languageOf } from "./languages.ts"
import { Prose } from "./Prose.tsx"
import type { CheckedFilter } from "./useCheck.ts"

type Explanation = NonNullable<CheckedFilter["explanation"]>

export const WhyNot = ({
  platform,
  text,
  tried,
  onUse
}: {
  readonly platform: string
  readonly text: string
  /** The event to begin with. */
  readonly tried: unknown
  readonly onUse: (text: string) => void
}) => {
  const { eventOf } = languageOf(platform)
  const client = useTRPCClient()
  const [pasted, paste] = useState(tried === undefined ? "" : JSON.stringify(tried, null, 2))
  const [problem, setProblem] = useState<Problem>()
  const explain = useMutation({
    mutationFn: async ({ filter, event }: { readonly filter: string; readonly event: unknown }) => {
      const request = { overrides: { [platform]: filter }, events: { [platform]: event } }
      return { filter, result: (await client.rules.check.query(request)).platforms[platform] }
    },
    onError: (error) => setProblem(problemOf(error))
  })
  const ask = () => {
    const read = eventIn(pasted, eventOf)
    setProblem("problem" in read ? { code: "invalid_argument", message: read.problem } : undefined)
    if ("event" in read) explain.mutate({ filter: text, event: read.event })
  }
  const details = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    if (tried === undefined) return
    explain.mutate({ filter: text, event: tried })
    details.current?.scrollIntoView({ block: "nearest" })
  }, [])
  const answer = problem === undefined ? explain.data : undefined
  return (
    <details class="why-not" ref={details} open={tried !== undefined}>
      <summary>Why not? Test the filter on one event</summary>
      <label>
        Paste an event as JSON, or just its text
        <textarea
          class="code"
          rows={4}
          spellcheck={false}
          value={pasted}
          placeholder={JSON.stringify(eventOf("Felt a strong earthquake just now"))}
          onInput={(event) => paste(event.currentTarget.value)}
        />
      </label>
      <div class="filter-actions">
        <button type="button" disabled={explain.isPending || pasted.trim() === ""} onClick={ask}>
          Explain
        </button>
      </div>
      {pasted.trim() !== "" && !isJson(pasted) && (
        <p class="quiet">This is plain text without a language, author or address, so filters on those do not match.</p>
      )}
      {problem !== undefined && <ProblemNote problem={problem} />}
      {answer?.result?.valid === false && <p role="status">The filter is not valid yet: fix its errors first.</p>}
      {answer?.result?.explanation !== undefined && (
        <Explained
          filter={answer.filter}
          isOld={answer.filter !== text}
          explanation={answer.result.explanation}
          onUse={onUse}
        />
      )}
    </details>
  )
}

// ---- helpers ----

const outcome = (held: boolean, negated: boolean): string => {
  if (negated) return held ? "matches, but the filter excludes it" : "does not match, as the filter requires"
  return held ? "matches" : "does not match"
}

const Explained = ({
  filter,
  isOld,
  explanation: { matched, clauses, decisive, changes = [] },
  onUse
}: {
  readonly filter: string
  /** The filter has changed since. */
  readonly isOld: boolean
  readonly explanation: Explanation
  readonly onUse: (text: string) => void
}) => {
  const isDecisive = (start: number) => decisive.some((span) => span.start === start)
  return (
    <div role="status">
      {isOld && <p class="warning">The filter has changed since this result.</p>}
      <p>
        <strong class={matched ? "fine" : "warning"}>{matched ? "It matches." : "It does not match."}</strong>{" "}
        {decisive.length > 0 && "The highlighted clauses decided this."}
      </p>
      <ul class="filter-clauses">
        {clauses.map(({ span, held, negated, description, tested }) => (
          <li key={span.start} class={isDecisive(span.start) ? "decisive" : ""}>
            {isDecisive(span.start) ? (
              <mark>
                <code>{filter.slice(span.start, span.end)}</code>
              </mark>
            ) : (
              <code>{filter.slice(span.start, span.end)}</code>
            )}{" "}
            <strong class={held === negated ? "warning" : "fine"}>{outcome(held, negated)}</strong>
            <p class="quiet">
              <Prose>{description}</Prose>.{" "}
              {tested !== undefined &&
                (tested.values.length === 0
                  ? `${tested.field}: empty`
                  : `${tested.field}: ${tested.values.join(" · ")}`)}
            </p>
          </li>
        ))}
      </ul>
      {!matched && (
        <h3>{changes.length > 0 ? "It would match with one of these changes" : "No single change is enough"}</h3>
      )}
      {changes.map(({ message, text }) => (
        <div class="filter-change" key={text}>
          <span>
            <Prose>{message}</Prose>: <code>{text}</code>
          </span>
          <button type="button" aria-label={`Use this: ${message}`} disabled={isOld} onClick={() => onUse(text)}>
            Use this
          </button>
        </div>
      ))}
    </div>
  )
}
