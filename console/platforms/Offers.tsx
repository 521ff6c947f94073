/** Platforms that this server does not watch, or only plays, and what each would need. */
import type { ComponentChildren } from "preact"
import type { PlatformStatus } from "../client.ts"
import { platformName } from "../parts/platformName.ts"

export const Offers = ({ platforms }: { readonly platforms: ReadonlyArray<PlatformStatus> }) => {
  const offers = Object.entries(OFFERS).filter(([id]) => {
    const found = platforms.find(({ platform }) => platform === id)
    return found === undefined || found.source === "local"
  })
  if (offers.length === 0) return null
  return (
    <section class="card" aria-labelledby="offers">
      <h2 id="offers">Watch more</h2>
      <p class="quiet">
        Whoever runs this server can turn these on: set the environment variable, and start Earshot again.
      </p>
      <dl class="facts">
        {offers.map(([id, text]) => (
          <div key={id}>
            <dt>{platformName(id)}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

// ---- helpers ----

const OFFERS: Readonly<Record<string, ComponentChildren>> = {
  bluesky: (
    <>
      All public posts, free and without an account: <code>EARSHOT_BLUESKY=on</code>
    </>
  ),
  feeds: (
    <>
      RSS, Atom and JSON feeds, free: <code>EARSHOT_FEEDS=on</code>. Every account can then add feeds.
    </>
  ),
  wikimedia: (
    <>
      Changes of Wikipedia and other wikis, free; Wikimedia asks for a contact:{" "}
      <code>EARSHOT_WIKIMEDIA_CONTACT=you@example.org</code>
    </>
  ),
  x: (
    <>
      Posts on X, with the token of an app: <code>X_BEARER_TOKEN</code>. X bills each delivered post, for instance 0.005
      USD: a filter with 100 posts a day costs about 15 USD a month. <code>X_MONTHLY_POST_BUDGET</code> sets a limit.
    </>
  ),
  firehose: (
    <>
      Changed pages on the web, with the token of a tap: <code>FIREHOSE_TAP_TOKEN</code>. Firehose bills each delivered
      page, for instance 0.005 USD, from a prepaid credit.
    </>
  )
}
