/** Where a person allows or denies what an OAuth client asks for. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { type Answers, problemOf, useTRPC } from "../client.ts"
import { Empty } from "../parts/Empty.tsx"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { Waiting } from "../parts/Waiting.tsx"
import { useReader } from "../Reader.tsx"

export const ConsentPage = () => {
  useTitle("Allow access")
  const [request] = useState(requestInAddress)
  return request === undefined ? (
    <Empty title="Nothing to decide">
      This page opens when an assistant or another program asks for access. Connect it to this server to begin.
    </Empty>
  ) : (
    <Asked request={request} />
  )
}

// ---- helpers ----

type Shown = Answers["grants"]["request"]
type Scope = Shown["scopes"][number]

/** The server puts it into the fragment, which the browser does not send. */
const requestInAddress = (): string | undefined =>
  new URLSearchParams(location.hash.slice(1)).get("request") ?? undefined

const Asked = ({ request }: { readonly request: string }) => {
  const { data, error, refetch } = useQuery(
    useTRPC().grants.request.queryOptions({ request }, { staleTime: Number.POSITIVE_INFINITY })
  )
  if (error !== null) {
    return (
      <>
        <h1>Allow access?</h1>
        <ProblemNote problem={problemOf(error)} onRetry={() => void refetch()} />
      </>
    )
  }
  return data === undefined ? <Waiting /> : <Decision request={request} shown={data} />
}

const Decision = ({ request, shown }: { readonly request: string; readonly shown: Shown }) => {
  const { account, may } = useReader()
  const [scope, setScope] = useState<Scope>(shown.scopes.includes("write") ? "write" : "read")
  const decide = useMutation(
    useTRPC().grants.decide.mutationOptions({
      // Out of the history: the request is used up.
      onSuccess: ({ redirect_uri }) => location.replace(redirect_uri)
    })
  )
  const isDone = decide.isPending || decide.isSuccess
  return (
    <>
      <h1>Allow “{shown.client_name}” to use Earshot?</h1>
      <form
        class="card form"
        aria-label="Access"
        onSubmit={(event) => {
          event.preventDefault()
          decide.mutate({ request, decision: scope })
        }}
      >
        <p>{ORIGINS[shown.client_kind]}</p>
        <dl class="facts">
          <div>
            <dt>Client</dt>
            <dd>{shown.client_kind === "registered" ? "registered itself" : shown.client_id}</dd>
          </div>
          <div>
            <dt>Goes back to</dt>
            <dd>
              <strong>{shown.redirect_host}</strong>
            </dd>
          </div>
          <div>
            <dt>Account</dt>
            <dd>{account.name}</dd>
          </div>
        </dl>
        {shown.is_local && (
          <p class="warning">
            The answer goes to a program on this computer. Allow it only if you have just started the sign-in in that
            program yourself.
          </p>
        )}
        <fieldset>
          <legend>It may</legend>
          {SCOPES.filter(([value]) => shown.scopes.includes(value)).map(([value, label]) => (
            <label class="check" key={value}>
              <input type="radio" name="scope" checked={scope === value} onChange={() => setScope(value)} />
              {label}
            </label>
          ))}
        </fieldset>
        <p class="quiet">
          It never manages keys. Access ends when you revoke it under “Keys and limits”, when your key ends, or after 30
          days without use.
        </p>
        {!may("write") && <p class="warning">This key is read-only: sign in with a key that has write access.</p>}
        {decide.error !== null && <ProblemNote problem={problemOf(decide.error)} />}
        {decide.isSuccess && <p role="status">Going back to {shown.redirect_host}. You can close this page.</p>}
        <div class="buttons">
          <button
            type="button"
            disabled={isDone || !may("write")}
            onClick={() => decide.mutate({ request, decision: "deny" })}
          >
            Deny
          </button>
          <button type="submit" class="main" disabled={isDone || !may("write")}>
            Allow
          </button>
        </div>
      </form>
    </>
  )
}

const ORIGINS: Readonly<Record<Shown["client_kind"], string>> = {
  known: "Earshot knows this client and its address.",
  document: "The client describes itself in the document below. Check that you know this address.",
  registered: "Nobody has verified this name: any program can call itself so. Check where it goes back to."
}

const SCOPES: ReadonlyArray<readonly [Scope, string]> = [
  ["read", "read only: rules, matches and status"],
  ["write", "read and write: also change rules and webhooks, and send events"]
]
