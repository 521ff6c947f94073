/** The feeds that the account has added: their state, a form for more, and an end. */
import { useQuery } from "@tanstack/react-query"
import { useRef, useState } from "preact/hooks"
import { type Answers, problemOf, useTRPC } from "../client.ts"
import { Confirm } from "../parts/Confirm.tsx"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { Time } from "../parts/Time.tsx"
import { useChange } from "../parts/useChange.ts"
import { Waiting } from "../parts/Waiting.tsx"
import { useReader } from "../Reader.tsx"

export const Feeds = () => {
  const { may } = useReader()
  const { data, error, refetch } = useQuery(useTRPC().feeds.list.queryOptions(undefined, { refetchInterval: 5_000 }))
  return (
    <section class="card" aria-labelledby="feeds">
      <h2 id="feeds">Your feeds</h2>
      <p class="quiet">New items of these feeds match the rules of your account only.</p>
      {error !== null && <ProblemNote problem={problemOf(error)} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting />}
      {data?.feeds.length === 0 && <p class="quiet">None yet.</p>}
      <ul class="rows">
        {data?.feeds.map((feed) => (
          <FeedRow key={feed.url} feed={feed} />
        ))}
      </ul>
      {may("write") && <NewFeed feeds={data?.feeds ?? []} />}
    </section>
  )
}

// ---- helpers ----

type Feed = Answers["feeds"]["list"]["feeds"][number]

const STATES: Readonly<Record<Feed["state"], { readonly name: string; readonly look: string }>> = {
  waiting: { name: "Waiting", look: "pending" },
  ok: { name: "Watching", look: "active" },
  failing: { name: "Interrupted, retrying", look: "failed" },
  gone: { name: "Gone", look: "failed" }
}

const stateOf = ({ state, last_read_at }: Feed) =>
  state === "failing" && last_read_at === undefined
    ? { name: "Could not be read yet, retrying", look: "failed" }
    : STATES[state]

const FeedRow = ({ feed }: { readonly feed: Feed }) => {
  const { may } = useReader()
  const [isAsked, setAsked] = useState(false)
  const { name, look } = stateOf(feed)
  return (
    <li class="row">
      <div class="row-main">
        {feed.title !== undefined && <span class="row-title">{feed.title} </span>}
        <code>{feed.url}</code>{" "}
        <span class={`state ${look}`}>
          <span class="state-word">{name}</span>
        </span>
        {feed.last_error !== undefined && <p class="warning">{feed.last_error}</p>}
        {feed.missed_at !== undefined && (
          <p class="warning">
            Items may be missing before <Time at={feed.missed_at} />: the feed showed none of those from the poll
            before.
          </p>
        )}
        <p class="quiet dates">
          <span>
            added <Time at={feed.added_at} />
          </span>
          {feed.last_read_at !== undefined && (
            <span>
              last read <Time at={feed.last_read_at} />
            </span>
          )}
          {feed.next_read_at !== undefined && (
            <span>
              next read <Time at={feed.next_read_at} />
            </span>
          )}
        </p>
      </div>
      {may("write") && (
        <div class="row-side">
          <button type="button" class="danger" onClick={() => setAsked(true)}>
            Remove
          </button>
        </div>
      )}
      {isAsked && <Remove url={feed.url} onClose={() => setAsked(false)} />}
    </li>
  )
}

const Remove = ({ url, onClose }: { readonly url: string; readonly onClose: () => void }) => {
  const remove = useChange(useTRPC().feeds.remove.mutationOptions(), onClose)
  return (
    <Confirm
      title="Remove this feed?"
      action="Remove feed"
      change={remove}
      onConfirm={() => remove.mutate({ url })}
      onClose={onClose}
    >
      <p>
        <code>{url}</code> is no longer read for your account. Stored matches stay.
      </p>
    </Confirm>
  )
}

const NewFeed = ({ feeds }: { readonly feeds: ReadonlyArray<Feed> }) => {
  const [url, setUrl] = useState("")
  /** The address of a feed that was added before, as the server writes it. */
  const [repeated, setRepeated] = useState<string>()
  const before = useRef(feeds)
  const add = useChange(useTRPC().feeds.add.mutationOptions(), ({ feed }) => {
    if (before.current.some((one) => one.url === feed.url)) setRepeated(feed.url)
    else setUrl("")
  })
  const submit = (event: Event) => {
    event.preventDefault()
    before.current = feeds
    setRepeated(undefined)
    add.mutate({ url: url.trim() })
  }
  return (
    <form class="form" onSubmit={submit} aria-label="New feed">
      <label>
        Address of an RSS, Atom or JSON feed
        <input
          type="url"
          required
          autocomplete="off"
          placeholder="https://example.org/feed.xml"
          value={url}
          onInput={(event) => {
            setRepeated(undefined)
            setUrl(event.currentTarget.value)
          }}
        />
      </label>
      {repeated !== undefined && (
        <p role="status">
          You have it already: <code>{repeated}</code>
        </p>
      )}
      {add.error !== null && <ProblemNote problem={problemOf(add.error)} />}
      <div class="buttons">
        <button type="submit" class="main" disabled={add.isPending}>
          Add feed
        </button>
      </div>
    </form>
  )
}
