/** The form for a new key. */
import { useEffect, useRef, useState } from "preact/hooks"
import { type Answers, problemOf, useTRPC } from "../client.ts"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { useChange } from "../parts/useChange.ts"

type Scope = Answers["account"]["get"]["scope"]

export const NewKey = ({
  onCreated,
  onCancel
}: {
  readonly onCreated: (created: Answers["keys"]["create"]) => void
  readonly onCancel: () => void
}) => {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const [name, setName] = useState("")
  const [scope, setScope] = useState<Scope>("read")
  const [days, setDays] = useState(90)
  const create = useChange(useTRPC().keys.create.mutationOptions(), onCreated)
  const submit = (event: Event) => {
    event.preventDefault()
    create.mutate({ name: name.trim(), scope, ...(days > 0 && { expires_at: inDays(days) }) })
  }
  return (
    <form class="card form" onSubmit={submit} aria-label="New key">
      <label>
        Name
        <input
          ref={field}
          type="text"
          required
          maxLength={200}
          autocomplete="off"
          placeholder="dashboard"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <fieldset>
        <legend>Scope</legend>
        {SCOPES.map(([value, label]) => (
          <label class="check" key={value}>
            <input type="radio" name="scope" checked={scope === value} onChange={() => setScope(value)} />
            {label}
          </label>
        ))}
      </fieldset>
      <label>
        Expires
        <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
          {EXPIRIES.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {create.error !== null && <ProblemNote problem={problemOf(create.error)} />}
      <div class="buttons">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="main" disabled={create.isPending}>
          Create key
        </button>
      </div>
    </form>
  )
}

// ---- helpers ----

const SCOPES: ReadonlyArray<readonly [Scope, string]> = [
  ["read", "read: lists, streams and status"],
  ["write", "write: read, plus rules, webhooks and events"],
  ["admin", "admin: write, plus keys"]
]

/** In days; 0: never. */
const EXPIRIES = [
  [7, "in 7 days"],
  [30, "in 30 days"],
  [90, "in 90 days"],
  [365, "in a year"],
  [0, "never"]
] as const

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()
