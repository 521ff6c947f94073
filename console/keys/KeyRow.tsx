/** One key: its state, and the controls to replace its secret and to revoke it. */
import { useState } from "preact/hooks"
import { type Answers, useTRPC } from "../client.ts"
import { Confirm } from "../parts/Confirm.tsx"
import { Time } from "../parts/Time.tsx"
import { useChange } from "../parts/useChange.ts"
import { storedKey } from "../session.ts"

type Key = Answers["keys"]["list"]["keys"][number]
type Issued = Answers["keys"]["rotate"]

export const KeyRow = ({ apiKey, onSecret }: { readonly apiKey: Key; readonly onSecret: (issued: Issued) => void }) => {
  const [asked, setAsked] = useState<"rotate" | "revoke">()
  const close = () => setAsked(undefined)
  const state = stateOf(apiKey)
  return (
    <li class="row">
      <div class="row-main">
        <span class="row-title">{apiKey.name}</span> <code>{apiKey.hint}</code>{" "}
        <span class={`state ${state === "active" ? "active" : ""}`}>
          {apiKey.scope}
          <span class="state-word">{state}</span>
        </span>
        {isOwn(apiKey) && <span> · used by this console</span>}
        <Dates apiKey={apiKey} />
      </div>
      {state === "active" && (
        <div class="row-side">
          <button type="button" onClick={() => setAsked("rotate")}>
            New secret
          </button>
          <button type="button" class="danger" onClick={() => setAsked("revoke")}>
            Revoke
          </button>
        </div>
      )}
      {asked === "rotate" && <Rotate apiKey={apiKey} onSecret={onSecret} onClose={close} />}
      {asked === "revoke" && <Revoke apiKey={apiKey} onClose={close} />}
    </li>
  )
}

// ---- helpers ----

const stateOf = ({ revoked_at, expires_at }: Key): "active" | "revoked" | "expired" => {
  if (revoked_at !== null) return "revoked"
  return expires_at !== null && isPast(expires_at) ? "expired" : "active"
}

const isPast = (at: string): boolean => Date.parse(at) <= Date.now()

/** The hint ends with an ellipsis. */
const isOwn = ({ hint }: Key): boolean => storedKey()?.startsWith(hint.slice(0, -1)) ?? false

const Dates = ({ apiKey }: { readonly apiKey: Key }) => (
  <p class="quiet dates">
    <span>
      created <Time at={apiKey.created_at} />
    </span>
    <span>
      {apiKey.last_used_at === null ? (
        "never used"
      ) : (
        <>
          last used <Time at={apiKey.last_used_at} />
        </>
      )}
    </span>
    {apiKey.revoked_at !== null ? (
      <span>
        revoked <Time at={apiKey.revoked_at} />
      </span>
    ) : (
      <span>
        {apiKey.expires_at === null ? (
          "never expires"
        ) : (
          <>
            expires <Time at={apiKey.expires_at} form="full" />
          </>
        )}
      </span>
    )}
    {apiKey.previous_secret_until !== null && stateOf(apiKey) === "active" && !isPast(apiKey.previous_secret_until) && (
      <span>
        the previous secret works until <Time at={apiKey.previous_secret_until} form="full" />
      </span>
    )}
  </p>
)

const Rotate = ({
  apiKey,
  onSecret,
  onClose
}: {
  readonly apiKey: Key
  readonly onSecret: (issued: Issued) => void
  readonly onClose: () => void
}) => {
  const [overlap, setOverlap] = useState(86_400)
  const rotate = useChange(useTRPC().keys.rotate.mutationOptions(), (issued) => {
    onClose()
    onSecret(issued)
  })
  return (
    <Confirm
      title={`Create a new secret for “${apiKey.name}”?`}
      action="Create new secret"
      change={rotate}
      onConfirm={() => rotate.mutate({ key_id: apiKey.id, overlap_seconds: overlap })}
      onClose={onClose}
    >
      <label>
        The old secret keeps working
        <select value={overlap} onChange={(event) => setOverlap(Number(event.currentTarget.value))}>
          {OVERLAPS.map(([seconds, label]) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <p>
        Switch all programs that use the key to the new secret in that time. Name, scope and expiry stay the same.
        {isOwn(apiKey) && " This console uses the key: sign in again with the new secret."}
      </p>
    </Confirm>
  )
}

const OVERLAPS = [
  [0, "not at all"],
  [3_600, "for an hour"],
  [86_400, "for a day"],
  [604_800, "for a week"],
  [2_592_000, "for 30 days"]
] as const

const Revoke = ({ apiKey, onClose }: { readonly apiKey: Key; readonly onClose: () => void }) => {
  const revoke = useChange(useTRPC().keys.revoke.mutationOptions(), onClose)
  return (
    <Confirm
      title={`Revoke “${apiKey.name}”?`}
      action="Revoke key"
      change={revoke}
      onConfirm={() => revoke.mutate({ key_id: apiKey.id })}
      onClose={onClose}
    >
      <p>
        All programs that use <code>{apiKey.hint}</code> lose access at once, for good: {STOPS[apiKey.scope]}.{" "}
        {apiKey.last_used_at === null ? (
          "It was never used."
        ) : (
          <>
            It was last used at <Time at={apiKey.last_used_at} />.
          </>
        )}
      </p>
      <p>Rules and webhooks created with it keep working.</p>
      {isOwn(apiKey) && <p class="warning">This console uses the key: you will have to sign in with another one.</p>}
    </Confirm>
  )
}

const STOPS: Readonly<Record<Key["scope"], string>> = {
  read: "they can no longer read matches, streams and status",
  write: "they can no longer read matches, change rules and webhooks, or send events",
  admin: "they can no longer read matches, change rules and webhooks, send events, or manage keys"
}
