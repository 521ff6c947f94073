/** The form for a new webhook. */
import { useState } from "preact/hooks"
import { type Answers, problemOf, type Rule, useTRPC } from "../client.ts"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { useChange } from "../parts/useChange.ts"

export type WebhookEvent = Answers["webhooks"]["list"]["webhooks"][number]["events"][number]

export const EVENTS: Readonly<Record<WebhookEvent, { readonly short: string; readonly label: string }>> = {
  match: { short: "matches", label: "New matches" },
  "match.redacted": {
    short: "removals",
    label: "Removals: posts that were deleted, withheld or edited on the platform"
  },
  "coverage.gap": { short: "gaps", label: "Gaps: times when rules are not watched" }
}

export const NewWebhook = ({
  rules,
  onCreated,
  onCancel
}: {
  readonly rules: ReadonlyArray<Rule>
  readonly onCreated: (created: Answers["webhooks"]["create"]) => void
  readonly onCancel: () => void
}) => {
  const [url, setUrl] = useState("")
  const [description, setDescription] = useState("")
  const [ruleIds, setRuleIds] = useState<ReadonlyArray<Rule["id"]>>([])
  const [events, setEvents] = useState<ReadonlyArray<WebhookEvent>>(["match", "match.redacted"])
  const create = useChange(useTRPC().webhooks.create.mutationOptions(), onCreated)

  const submit = (event: Event) => {
    event.preventDefault()
    create.mutate({
      url: url.trim(),
      events,
      ...(ruleIds.length > 0 && { rule_ids: ruleIds }),
      ...(description.trim() !== "" && { description: description.trim() })
    })
  }
  return (
    <form class="card form" onSubmit={submit} aria-label="New webhook">
      <label>
        URL
        <input
          type="url"
          required
          autocomplete="off"
          placeholder="https://example.com/hooks/earshot"
          value={url}
          onInput={(event) => setUrl(event.currentTarget.value)}
        />
      </label>
      <label>
        Description (optional)
        <input
          type="text"
          maxLength={500}
          value={description}
          onInput={(event) => setDescription(event.currentTarget.value)}
        />
      </label>
      <fieldset>
        <legend>What to send</legend>
        {(Object.keys(EVENTS) as ReadonlyArray<WebhookEvent>).map((name) => (
          <label class="check" key={name}>
            <input type="checkbox" checked={events.includes(name)} onChange={() => setEvents(toggled(events, name))} />
            {EVENTS[name].label}
          </label>
        ))}
      </fieldset>
      {rules.length > 0 && (
        <fieldset>
          <legend>Rules</legend>
          <label class="check">
            <input type="checkbox" checked={ruleIds.length === 0} onChange={() => setRuleIds([])} />
            All rules, including new ones
          </label>
          <div class="choices">
            {rules.map(({ id, name }) => (
              <label class="check" key={id}>
                <input
                  type="checkbox"
                  checked={ruleIds.includes(id)}
                  onChange={() => setRuleIds(toggled(ruleIds, id))}
                />
                {name}
              </label>
            ))}
          </div>
        </fieldset>
      )}
      {create.error !== null && <ProblemNote problem={problemOf(create.error)} />}
      <div class="buttons">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="main" disabled={create.isPending || events.length === 0}>
          Create webhook
        </button>
      </div>
    </form>
  )
}

// ---- helpers ----

const toggled = <A,>(items: ReadonlyArray<A>, item: A): ReadonlyArray<A> =>
  items.includes(item) ? items.filter((other) => other !== item) : [...items, item]
