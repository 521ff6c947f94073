/** The webhooks of the account: state, attempts, and what can be done with them. */
import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { type Answers, problemOf, useTRPC } from "../client.ts"
import { Empty } from "../parts/Empty.tsx"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { Secret } from "../parts/Secret.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { Waiting } from "../parts/Waiting.tsx"
import { useReader } from "../Reader.tsx"
import { NewWebhook } from "./NewWebhook.tsx"
import { WebhookCard } from "./WebhookCard.tsx"

type Issued = Answers["webhooks"]["create"]

export const WebhooksPage = () => {
  useTitle("Webhooks")
  const { may } = useReader()
  const trpc = useTRPC()
  const { data, error, refetch } = useQuery(trpc.webhooks.list.queryOptions(undefined, { refetchInterval: 5_000 }))
  const { data: known } = useQuery(trpc.rules.list.queryOptions())
  const [isCreating, setCreating] = useState(false)
  const [issued, setIssued] = useState<Issued>()

  const created = (webhook: Issued) => {
    setCreating(false)
    setIssued(webhook)
  }
  return (
    <>
      <div class="head">
        <h1>Webhooks</h1>
        {may("write") && !isCreating && (
          <button type="button" class="main" onClick={() => setCreating(true)}>
            New webhook
          </button>
        )}
      </div>
      {isCreating && <NewWebhook rules={known?.rules ?? []} onCreated={created} onCancel={() => setCreating(false)} />}
      {issued !== undefined && (
        <Secret
          key={issued.secret}
          title={`Secret for ${issued.webhook.url}`}
          secret={issued.secret}
          hint="The receiver needs it to verify signatures."
          onDone={() => setIssued(undefined)}
        />
      )}
      {error !== null && <ProblemNote problem={problemOf(error)} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting />}
      {data?.webhooks.length === 0 && !isCreating && (
        <Empty title="No webhooks yet">
          {may("write")
            ? "A webhook sends each match to your URL as soon as it is stored: signed, in order and with retries."
            : "This key is read-only. To create a webhook, sign in with a key that has write access."}
        </Empty>
      )}
      {data?.webhooks.map((webhook) => (
        <WebhookCard key={webhook.id} webhook={webhook} rules={known?.rules ?? []} onSecret={setIssued} />
      ))}
    </>
  )
}
