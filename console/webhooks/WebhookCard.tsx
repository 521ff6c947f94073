/** One webhook with its state, controls and attempts. */
import { useState } from "preact/hooks"
import { type Answers, problemOf, type Rule, useTRPC } from "../client.ts"
import { Confirm } from "../parts/Confirm.tsx"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { Time } from "../parts/Time.tsx"
import { useChange } from "../parts/useChange.ts"
import { useReader } from "../Reader.tsx"
import { Attempts, Outcome } from "./Attempts.tsx"
import { EVENTS } from "./NewWebhook.tsx"
import { shownState, type Webhook } from "./state.ts"

type OnSecret = (issued: Answers["webhooks"]["rotateSecret"]) => void

export const WebhookCard = ({
  webhook,
  rules,
  onSecret
}: {
  readonly webhook: Webhook
  readonly rules: ReadonlyArray<Rule>
  readonly onSecret: OnSecret
}) => {
  const { may } = useReader()
  const [isOpen, setOpen] = useState(false)
  const { name, look } = shownState(webhook)
  return (
    <section class="card" aria-label={webhook.url}>
      <div class="card-head">
        <h2 class="url">{webhook.url}</h2>
        <span class={`state ${look}`}>
          <span class="state-word">{name}</span>
          {webhook.next_attempt_at !== undefined && (
            <span>
              next attempt at <Time at={webhook.next_attempt_at} />; later messages are queued
            </span>
          )}
        </span>
      </div>
      {webhook.description !== undefined && <p>{webhook.description}</p>}
      {webhook.subscription !== undefined && (
        <p>
          Subscription of {webhook.subscription.client ?? "an MCP client"} to {webhook.subscription.event}, until{" "}
          <Time at={webhook.subscription.expires_at} /> unless the client refreshes it
        </p>
      )}
      {webhook.disabled_reason !== undefined && <p class="warning">{webhook.disabled_reason}</p>}
      <p class="quiet">
        Sends {webhook.events.map((event) => EVENTS[event].short).join(", ")}
        {" · "}
        {rulesOf(webhook, rules)}
        {webhook.platforms !== undefined && ` · only on ${webhook.platforms.join(", ")}`}
      </p>
      {webhook.last_delivery !== undefined && <Last name="Last delivery" attempt={webhook.last_delivery} />}
      {webhook.last_attempt?.kind === "test" && <Last name="Last test" attempt={webhook.last_attempt} />}
      {webhook.last_attempt?.kind === "replay" && <Last name="Last resend" attempt={webhook.last_attempt} />}
      {may("write") && <Controls webhook={webhook} onSecret={onSecret} />}
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Attempts</summary>
        {isOpen && <Attempts webhookId={webhook.id} />}
      </details>
    </section>
  )
}

// ---- helpers ----

const Last = ({ name, attempt }: { readonly name: string; readonly attempt: NonNullable<Webhook["last_attempt"]> }) => (
  <p>
    {name} <Time at={attempt.at} />: <Outcome attempt={attempt} />
  </p>
)

const rulesOf = ({ rule_ids }: Webhook, rules: ReadonlyArray<Rule>): string =>
  rule_ids === undefined
    ? "for all rules"
    : `for ${rule_ids.map((id) => rules.find((rule) => rule.id === id)?.name ?? id).join(", ")}`

const SUBSCRIPTION_ENDS =
  "If a rule was made for the subscription, it is deleted with its matches. The client may subscribe again."

const Controls = ({ webhook, onSecret }: { readonly webhook: Webhook; readonly onSecret: OnSecret }) => {
  const trpc = useTRPC().webhooks
  const [asked, setAsked] = useState<"rotate" | "delete">()
  const close = () => setAsked(undefined)
  const test = useChange(trpc.test.mutationOptions())
  const enable = useChange(trpc.enable.mutationOptions())
  const remove = useChange(trpc.delete.mutationOptions())
  const rotate = useChange(trpc.rotateSecret.mutationOptions(), (issued) => {
    close()
    onSecret(issued)
  })
  const target = { webhook_id: webhook.id }
  const isSubscription = webhook.kind === "subscription"
  const failed = test.error ?? enable.error
  return (
    <>
      <div class="controls">
        <button type="button" disabled={test.isPending} onClick={() => test.mutate(target)}>
          {test.isPending ? "Sending…" : "Send test"}
        </button>
        {webhook.state !== "active" && (
          <button type="button" disabled={enable.isPending} onClick={() => enable.mutate(target)}>
            {webhook.state === "disabled" ? "Enable" : "Retry now"}
          </button>
        )}
        {!isSubscription && (
          <button type="button" onClick={() => setAsked("rotate")}>
            New secret
          </button>
        )}
        <button type="button" class="danger" onClick={() => setAsked("delete")}>
          {isSubscription ? "End" : "Delete"}
        </button>
        <span role="status">
          {test.data !== undefined && (
            <>
              Test: <Outcome attempt={test.data.attempt} />
            </>
          )}
        </span>
      </div>
      {failed !== null && <ProblemNote problem={problemOf(failed)} />}
      {asked === "rotate" && (
        <Confirm
          title="Create a new secret for this webhook?"
          action="Create new secret"
          change={rotate}
          onConfirm={() => rotate.mutate(target)}
          onClose={close}
        >
          <p>
            For 24 hours, messages are signed with both secrets. After that, a receiver that only knows the old one
            rejects them.
          </p>
        </Confirm>
      )}
      {asked === "delete" && (
        <Confirm
          title={isSubscription ? "End this subscription?" : "Delete this webhook?"}
          action={isSubscription ? "End subscription" : "Delete webhook"}
          change={remove}
          onConfirm={() => remove.mutate(target)}
          onClose={close}
        >
          <p>
            Nothing more is sent to <code>{webhook.url}</code>, not even queued messages. Its secret and its attempts
            are deleted. {isSubscription ? SUBSCRIPTION_ENDS : "Matches are kept."}
          </p>
        </Confirm>
      )}
    </>
  )
}
