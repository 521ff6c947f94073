/** What OAuth clients may do for the account. */
import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { type Answers, problemOf, useTRPC } from "../client.ts"
import { Confirm } from "../parts/Confirm.tsx"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { Time } from "../parts/Time.tsx"
import { useChange } from "../parts/useChange.ts"
import { Waiting } from "../parts/Waiting.tsx"

export const Grants = () => {
  const { data, error, refetch } = useQuery(useTRPC().grants.list.queryOptions(undefined, { refetchInterval: 10_000 }))
  return (
    <section aria-label="Connected clients">
      <div class="head">
        <h2>Connected clients</h2>
      </div>
      {error !== null && <ProblemNote problem={problemOf(error)} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting />}
      {data?.grants.length === 0 && (
        <p class="quiet">None yet. Assistants that sign in with OAuth appear here once you have allowed it.</p>
      )}
      <ul class="rows">
        {data?.grants.map((grant) => (
          <GrantRow key={grant.id} grant={grant} />
        ))}
      </ul>
    </section>
  )
}

// ---- helpers ----

type Grant = Answers["grants"]["list"]["grants"][number]

const GrantRow = ({ grant }: { readonly grant: Grant }) => {
  const [isAsked, setAsked] = useState(false)
  const state = stateOf(grant)
  return (
    <li class="row">
      <div class="row-main">
        <span class="row-title">{grant.client_name}</span> <code>{grant.redirect_host}</code>{" "}
        <span class={`state ${state === "active" ? "active" : ""}`}>
          {grant.scope}
          <span class="state-word">{state}</span>
        </span>
        <p class="quiet dates">
          <span>
            allowed <Time at={grant.created_at} />
          </span>
          <span>{grant.last_used_at === null ? "never used" : <LastUse at={grant.last_used_at} />}</span>
          <span>
            {grant.ended_at === null ? (
              <>
                without use until <Time at={grant.expires_at} form="full" />
              </>
            ) : (
              <>
                ended <Time at={grant.ended_at} />
                {grant.ended_by !== null && `: ${ENDS[grant.ended_by]}`}
              </>
            )}
          </span>
        </p>
      </div>
      {state === "active" && (
        <div class="row-side">
          <button type="button" class="danger" onClick={() => setAsked(true)}>
            Revoke
          </button>
        </div>
      )}
      {isAsked && <Revoke grant={grant} onClose={() => setAsked(false)} />}
    </li>
  )
}

const LastUse = ({ at }: { readonly at: string }) => (
  <>
    last used <Time at={at} />
  </>
)

const stateOf = ({ ended_at, expires_at }: Grant): "active" | "ended" | "expired" => {
  if (ended_at !== null) return "ended"
  return Date.parse(expires_at) <= Date.now() ? "expired" : "active"
}

const ENDS: Readonly<Record<NonNullable<Grant["ended_by"]>, string>> = {
  revoked: "revoked here",
  client: "given up by the client",
  reuse: "one of its tokens was used twice, so that it may have been stolen",
  key: "the key that allowed it has ended"
}

const Revoke = ({ grant, onClose }: { readonly grant: Grant; readonly onClose: () => void }) => {
  const revoke = useChange(useTRPC().grants.revoke.mutationOptions(), onClose)
  return (
    <Confirm
      title={`Revoke the access of “${grant.client_name}”?`}
      action="Revoke access"
      change={revoke}
      onConfirm={() => revoke.mutate({ grant_id: grant.id })}
      onClose={onClose}
    >
      <p>The client loses access at once. It can ask for it again. Rules and webhooks that it created keep working.</p>
    </Confirm>
  )
}
