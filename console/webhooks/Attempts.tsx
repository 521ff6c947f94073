/** The attempts of a webhook with the receiver's answers, newest first. */
import { useInfiniteQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { type Answers, problemOf, useTRPC, useTRPCClient } from "../client.ts"
import { Confirm } from "../parts/Confirm.tsx"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { Time } from "../parts/Time.tsx"
import { useChange } from "../parts/useChange.ts"
import { Waiting } from "../parts/Waiting.tsx"
import { useReader } from "../Reader.tsx"

type Attempt = Answers["webhooks"]["attempts"]["attempts"][number]
type MatchId = NonNullable<Attempt["match_id"]>

export const Attempts = ({ webhookId }: { readonly webhookId: Attempt["webhook_id"] }) => {
  const { may } = useReader()
  const client = useTRPCClient()
  const request = { webhook_id: webhookId, limit: PAGE }
  // By hand: the options that tRPC makes add a field "direction", which the service rejects.
  const attempts = useInfiniteQuery({
    queryKey: useTRPC().webhooks.attempts.infiniteQueryKey(request),
    queryFn: ({ pageParam, signal }) =>
      client.webhooks.attempts.query(pageParam === undefined ? request : { ...request, cursor: pageParam }, { signal }),
    initialPageParam: FIRST_PAGE,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: 5_000
  })
  const { data, error, hasNextPage } = attempts
  if (data === undefined) {
    return error === null ? <Waiting /> : <ProblemNote problem={problemOf(error)} />
  }
  const rows = data.pages.flatMap((page) => page.attempts)
  if (rows.length === 0) return <p class="quiet">None yet. The first match or test will appear here.</p>
  return (
    <>
      {may("write") && rows.some(({ match_id }) => match_id !== undefined) && (
        <p class="quiet">
          “Resend” sends one match once more. “Resume after it” continues with the next match: use it to skip a match
          that the receiver cannot process, or to resend all later ones.
        </p>
      )}
      <ol class="rows" aria-label="Attempts, newest first">
        {rows.map((attempt) => (
          <li class="row" key={attempt.id}>
            <div class="row-main">
              <Time at={attempt.at} /> <span class="quiet">{KINDS[attempt.kind]}</span> <Outcome attempt={attempt} />
              {attempt.match_id !== undefined && (
                <p class="attempt-match quiet">
                  Match <code>{attempt.match_id}</code>
                </p>
              )}
              {attempt.response !== undefined && attempt.response !== "" && <pre>{attempt.response}</pre>}
            </div>
            {may("write") && attempt.match_id !== undefined && (
              <Replay webhookId={webhookId} matchId={attempt.match_id} />
            )}
          </li>
        ))}
      </ol>
      {hasNextPage && (
        <button type="button" disabled={attempts.isFetchingNextPage} onClick={() => void attempts.fetchNextPage()}>
          Show older attempts
        </button>
      )}
    </>
  )
}

/** What became of a message, with the reason of a failure. */
export const Outcome = ({ attempt }: { readonly attempt: Attempt }) => {
  const { outcome, status, duration_ms, error } = attempt
  return (
    <span class={`state ${outcome === "delivered" ? "active" : outcome === "failed" ? "failed" : ""}`}>
      <span>
        <span class="state-word">{outcome}</span>
        {status !== undefined && error === undefined && `, HTTP ${status}`}
        {outcome !== "skipped" && `, ${duration_ms} ms`}
        {error !== undefined && `. ${error}`}
      </span>
    </span>
  )
}

// ---- helpers ----

const PAGE = 20

const KINDS: Readonly<Record<Attempt["kind"], string>> = {
  delivery: "Delivery",
  replay: "Resend",
  test: "Test"
}

const FIRST_PAGE: Answers["webhooks"]["attempts"]["next_cursor"] = undefined

const Replay = ({ webhookId, matchId }: { readonly webhookId: string; readonly matchId: MatchId }) => {
  const [isAsked, setAsked] = useState(false)
  const close = () => setAsked(false)
  const replay = useChange(useTRPC().webhooks.replay.mutationOptions(), close)
  return (
    <div class="controls">
      <button
        type="button"
        disabled={replay.isPending}
        onClick={() => replay.mutate({ webhook_id: webhookId, match_id: matchId })}
      >
        Resend
      </button>
      <button type="button" onClick={() => setAsked(true)}>
        Resume after it
      </button>
      {replay.error !== null && !isAsked && <ProblemNote problem={problemOf(replay.error)} />}
      {isAsked && (
        <Confirm
          title="Resume after this match?"
          action="Resume after it"
          change={replay}
          onConfirm={() => replay.mutate({ webhook_id: webhookId, after: matchId })}
          onClose={close}
        >
          <p>
            Delivery resumes with the match after <code>{matchId}</code> and continues with all later ones, in order.
            Matches that the receiver already has are sent again, with the same <code>webhook-id</code>.
          </p>
          <p>This match and earlier ones that are still queued are skipped.</p>
        </Confirm>
      )}
    </div>
  )
}
