/** The limits of the account with what is used of them and, for admin keys, the keys. */
import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { type Answers, problemOf, useTRPC } from "../client.ts"
import { Grants } from "../grants/Grants.tsx"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { Secret } from "../parts/Secret.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { Waiting } from "../parts/Waiting.tsx"
import { useReader } from "../Reader.tsx"
import { KeyRow } from "./KeyRow.tsx"
import { Limits } from "./Limits.tsx"
import { NewKey } from "./NewKey.tsx"

type Issued = Answers["keys"]["create"]

export const KeysPage = () => {
  const isAdmin = useReader().may("admin")
  useTitle(isAdmin ? "Keys and limits" : "Limits")
  return (
    <>
      <div class="head">
        <h1>{isAdmin ? "Keys and limits" : "Limits"}</h1>
      </div>
      {isAdmin && <Keys />}
      {isAdmin && <Grants />}
      <Limits hasHeading={isAdmin} />
    </>
  )
}

// ---- helpers ----

const Keys = () => {
  const { data, error, refetch } = useQuery(useTRPC().keys.list.queryOptions(undefined, { refetchInterval: 10_000 }))
  const [isCreating, setCreating] = useState(false)
  const [issued, setIssued] = useState<Issued>()
  const created = (key: Issued) => {
    setCreating(false)
    setIssued(key)
  }
  return (
    <section aria-label="Keys">
      <div class="head">
        <h2>Keys</h2>
        {!isCreating && (
          <button type="button" class="main" onClick={() => setCreating(true)}>
            New key
          </button>
        )}
      </div>
      {isCreating && <NewKey onCreated={created} onCancel={() => setCreating(false)} />}
      {issued !== undefined && (
        <Secret
          key={issued.secret}
          title={`Key “${issued.key.name}”`}
          secret={issued.secret}
          hint={HINTS[issued.key.scope]}
          onDone={() => setIssued(undefined)}
        />
      )}
      {error !== null && <ProblemNote problem={problemOf(error)} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting />}
      <ul class="rows">
        {data?.keys.map((key) => (
          <KeyRow key={key.id} apiKey={key} onSecret={setIssued} />
        ))}
      </ul>
    </section>
  )
}

const HINTS: Readonly<Record<Issued["key"]["scope"], string>> = {
  read: "It can read lists, streams and status.",
  write: "It can read everything, manage rules and webhooks, and send events.",
  admin: "It can do everything in the account, including managing keys."
}
