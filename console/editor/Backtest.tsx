/** Tests a filter on recent events, and asks the platform how many events it would bring. */
import { useMutation } from "@tanstack/react-query"
import type { ComponentChildren } from "preact"
import { problemOf, useTRPCClient } from "../client.ts"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { platformName } from "../parts/platformName.ts"
import { Time } from "../parts/Time.tsx"
import { EventNote } from "./EventNote.tsx"
import { languageOf } from "./languages.ts"
import type { CheckedFilter } from "./useCheck.ts"

export const Backtest = ({
  platform,
  text,
  onTry
}: {
  readonly platform: string
  readonly text: string
  /** Explains the filter on an event. */
  readonly onTry: (event: unknown) => void
}) => {
  const client = useTRPCClient()
  const test = useMutation({
    mutationFn: async (text: string) => {
      const { platforms } = await client.rules.check.query({ overrides: { [platform]: text }, backtest: SIZE })
      return { text, result: platforms[platform] }
    }
  })
  const ask = useMutation({
    mutationFn: async (text: string) => {
      const { platforms } = await client.rules.check.query({ overrides: { [platform]: text }, ask_platforms: true })
      return { text, result: platforms[platform] }
    }
  })
  const failed = test.error ?? ask.error
  return (
    <section aria-label={`Test for ${platformName(platform)}`}>
      <div class="filter-actions">
        <button type="button" disabled={test.isPending} onClick={() => test.mutate(text)}>
          {test.isPending ? "Testing…" : `Test on recent ${languageOf(platform).events}`}
        </button>
        <button
          type="button"
          disabled={ask.isPending}
          title="Asks the platform whether it accepts the filter. Nothing is registered"
          onClick={() => ask.mutate(text)}
        >
          {ask.isPending ? "Asking…" : `Ask ${platformName(platform)}`}
        </button>
      </div>
      {failed !== null && <ProblemNote problem={problemOf(failed)} />}
      <Answer answer={test.data} text={text}>
        {(result) => <Tested platform={platform} result={result} onTry={onTry} />}
      </Answer>
      <Answer answer={ask.data} text={text}>
        {(result) => <Asked platform={platform} result={result} />}
      </Answer>
    </section>
  )
}

// ---- helpers ----

const SIZE = { events: 10_000, samples: 5 }

const numbers = new Intl.NumberFormat()
const rates = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 2 })
const percents = new Intl.NumberFormat(undefined, { style: "percent", maximumSignificantDigits: 2 })

const Answer = ({
  answer,
  text,
  children
}: {
  readonly answer: { readonly text: string; readonly result: CheckedFilter | undefined } | undefined
  /** The present filter. */
  readonly text: string
  readonly children: (result: CheckedFilter) => ComponentChildren
}) => {
  if (answer?.result === undefined) return null
  return (
    <div class="card" role="status">
      {answer.text !== text && <p class="warning">The filter has changed since this result.</p>}
      {answer.result.valid ? children(answer.result) : <p>The filter is not valid yet: fix its errors first.</p>}
    </div>
  )
}

const Tested = ({
  platform,
  result: { backtest },
  onTry
}: {
  readonly platform: string
  readonly result: CheckedFilter
  readonly onTry: (event: unknown) => void
}) => {
  if (backtest === undefined) return null
  const { events } = languageOf(platform)
  const {
    basis,
    tested,
    matched,
    already_matched,
    share,
    per_hour,
    from,
    to,
    samples,
    newest,
    note,
    missed,
    recorded
  } = backtest
  const shown = newest ?? samples
  if (tested === 0) return <p>{note ?? `There are no ${events} to test on yet`}.</p>
  return (
    <>
      <p>
        <strong>
          {numbers.format(matched)} of {numbers.format(tested)} {events} match
        </strong>
        {share !== undefined && matched > 0 && ` (${percents.format(share)})`}
        {per_hour !== undefined && matched > 0 && `, about ${rates.format(per_hour)} per hour`}.{" "}
        {already_matched > 0 && `${numbers.format(already_matched)} of them already match one of your active rules. `}
        {from !== undefined && to !== undefined && (
          <span class="quiet">
            From <Time at={from} /> to <Time at={to} />.
          </span>
        )}
      </p>
      {basis === "matched_events" && (
        <p class="quiet">Only {events} that match some rule of this server are kept, so there may be many more.</p>
      )}
      {recorded !== undefined && (
        <p class="quiet">
          {numbers.format(recorded)} {events} are from a recording. Their rate is based on the time that the recording
          covers.
        </p>
      )}
      {missed !== undefined && <p class="quiet">{numbers.format(missed)} more from the same time were not kept.</p>}
      {note !== undefined && <p class="quiet">{note}</p>}
      {matched === 0 && (
        <p>
          Use fewer or more common words.
          {newest !== undefined &&
            ` These are the newest ${events}: choose “Why not?” to see why one of them does not match.`}
        </p>
      )}
      {shown.length > 0 && (
        <ul class="event-samples">
          {shown.map((event, index) => (
            <li key={index}>
              <EventNote platform={platform} event={event} />{" "}
              {newest !== undefined && (
                <button type="button" class="plain" onClick={() => onTry(event)}>
                  Why not?
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

type Verdict = NonNullable<CheckedFilter["platform_verdict"]>

/** Why the platform itself has not judged the filter. */
const reasonToJudge = (platform: string, { asked, judged_by, address }: Verdict): string => {
  const name = platformName(platform)
  if (!asked) return `${name} was not asked, because this server registers no filters there. `
  const place = address === undefined ? "" : `This server asks ${address} instead of ${name}. `
  return judged_by === "earshot"
    ? `${place === "" ? `${name} was asked` : `${place}It was asked`} and gave no verdict. `
    : place
}

const judgeOf = (platform: string, { judged_by, address }: Verdict): string =>
  ({ platform: platformName(platform), other_service: address ?? "", earshot: "Earshot’s own check" })[judged_by]

const Asked = ({
  platform,
  result: { platform_verdict: verdict, counts, counts_reason, price }
}: {
  readonly platform: string
  readonly result: CheckedFilter
}) => (
  <>
    {verdict !== undefined && (
      <p>
        {reasonToJudge(platform, verdict)}
        <strong>
          {judgeOf(platform, verdict)} {verdict.accepted ? "accepts the filter." : "rejects the filter."}
        </strong>{" "}
        {verdict.reason}
      </p>
    )}
    {counts !== undefined && (
      <p>
        {counts.bound === "upper" ? "At most " : ""}
        {numbers.format(counts.total)} {languageOf(platform).events} from <Time at={counts.from} form="full" /> to{" "}
        <Time at={counts.to} form="full" />, {rates.format(counts.per_hour)} per hour.
        {counts.without !== undefined && ` Counted without ${counts.without.join(", ")}.`} {counts.note}
      </p>
    )}
    {counts_reason !== undefined && <p class="quiet">Not counted: {counts_reason}</p>}
    {price !== undefined && (
      <p>
        <strong>
          About{" "}
          {new Intl.NumberFormat(undefined, { style: "currency", currency: price.currency }).format(price.per_month)}{" "}
          per month
        </strong>
        , minus the posts that other rules of this server already match.
      </p>
    )}
  </>
)
