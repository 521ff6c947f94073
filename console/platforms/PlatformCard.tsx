/** One platform: what its stream does, the rules that it holds, what is used, and when it was watched. */
import type { ComponentChildren } from "preact"
import { Link } from "wouter-preact"
import type { PlatformStatus } from "../client.ts"
import { CoverageBar } from "../coverage/CoverageBar.tsx"
import { describeCoverage, startedIn } from "../coverage/coverage.ts"
import { Meter } from "../parts/Meter.tsx"
import { platformName } from "../parts/platformName.ts"
import { Time } from "../parts/Time.tsx"
import { Drift } from "./Drift.tsx"

export const PlatformCard = ({ status }: { readonly status: PlatformStatus }) => {
  const { platform, stream, rules, usage, budget } = status
  const { name, look } = STATES[stream.state]
  return (
    <section class="card" aria-label={platformName(platform)}>
      <div class="card-head">
        <h2>{platformName(platform)}</h2>
        <span class={`state ${look}`}>
          <span class="state-word">{name}</span>
          <span class="quiet">
            since <Time at={stream.since} />
          </span>
        </span>
        <span class="quiet">
          <Connection status={status} />
        </span>
      </div>
      <p>{stream.detail}</p>
      <Coverage status={status} />
      <dl class="facts">
        <Fact name="Last event">
          {stream.last_event_at === undefined ? "None since startup" : <Time at={stream.last_event_at} />}
        </Fact>
        <Fact name="Last error">
          {stream.last_error === undefined ? (
            "None since startup"
          ) : (
            <>
              {stream.last_error.message} <span class="quiet">(</span>
              <Time at={stream.last_error.at} />
              <span class="quiet">)</span>
            </>
          )}
        </Fact>
        {status.owner !== undefined && (
          <Fact name="Watched by">
            <Owner owner={status.owner} />
          </Fact>
        )}
        <Fact name="Rules">
          <Meter share={rules.limit === undefined ? undefined : rules.wanted / rules.limit}>
            {rules.limit === undefined
              ? `${whole(rules.wanted)}; the platform reports no limit`
              : `${whole(rules.wanted)} of ${whole(rules.limit)}`}
          </Meter>
        </Fact>
        <Fact name="Sync">
          <Drift rules={rules} />
        </Fact>
        {usage !== undefined && (
          <Fact name="Billing period">
            <Meter share={usage.used / usage.limit}>
              {whole(usage.used)} of {whole(usage.limit)} events, as the platform reported at{" "}
              <Time at={usage.reported_at} />
            </Meter>
          </Fact>
        )}
        {budget !== undefined && (
          <Fact name={`Budget of ${budget.month}`}>
            <Budget budget={budget} />
          </Fact>
        )}
      </dl>
    </section>
  )
}

// ---- helpers ----

const STATES: Readonly<Record<PlatformStatus["stream"]["state"], { readonly name: string; readonly look: string }>> = {
  live: { name: "Watching", look: "active" },
  connecting: { name: "Connecting", look: "pending" },
  waiting: { name: "Interrupted, retrying", look: "failed" },
  refused: { name: "Access denied", look: "failed" },
  idle: { name: "Nothing to watch", look: "idle" },
  off: { name: "Off", look: "idle" }
}

const numbers = new Intl.NumberFormat()
const dollars = new Intl.NumberFormat(undefined, { style: "currency", currency: "USD" })
/** The price of a post is less than a cent. */
const prices = new Intl.NumberFormat(undefined, { style: "currency", currency: "USD", maximumFractionDigits: 6 })

const whole = (amount: number): string => numbers.format(amount)

const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

const Connection = ({ status: { platform, source, address } }: { readonly status: PlatformStatus }) => {
  if (source === "local") return "Runs in process, without the real platform"
  if (address === undefined) return "Uses the real platform"
  return (
    <>
      Uses <code>{address}</code>, not {platformName(platform)} itself
    </>
  )
}

const Coverage = ({ status: { platform, coverage } }: { readonly status: PlatformStatus }) => {
  const period = { from: Date.now() - 86_400_000, to: Date.now() }
  const { from } = startedIn([coverage], period)
  return (
    <div class="coverage-line">
      <CoverageBar coverage={coverage} period={period} />
      <p class="coverage-text">
        <span>
          {from === period.from ? (
            "Last 24 hours"
          ) : (
            <>
              Since <Time at={new Date(from).toISOString()} />
            </>
          )}
          : {describeCoverage(coverage, period)}
        </span>
        <Link href={`/coverage?platform=${platform}&period=day`}>Show gaps</Link>
      </p>
    </div>
  )
}

const Owner = ({ owner }: { readonly owner: NonNullable<PlatformStatus["owner"]> }) => (
  <>
    {owner.server ?? "One of several servers"} since <Time at={owner.since} />
    <span class="quiet"> (epoch {owner.epoch})</span>
    {!owner.alive && <p class="warning">It has stopped. Another server takes over within seconds.</p>}
  </>
)

const Budget = ({ budget }: { readonly budget: NonNullable<PlatformStatus["budget"]> }) => {
  const { limit, used_percent, used, cost, price_per_post, paused, warning, accounts } = budget
  return (
    <>
      <Meter share={used_percent === undefined ? undefined : used_percent / 100}>
        {limit === undefined
          ? "No limit set"
          : `${used_percent ?? 0} % of ${whole(limit)} posts, used by the rules of all accounts`}
      </Meter>
      <p>
        {whole(used)} posts for your rules: {dollars.format(cost)} at {prices.format(price_per_post)} each
      </p>
      {warning !== undefined && <p class="warning">{warning}</p>}
      {paused > 0 && warning === undefined && (
        <p class="warning">{whole(paused)} rules are paused to stay within the budget.</p>
      )}
      {accounts !== undefined && (
        <ul class="rows">
          {accounts.map((account) => (
            <li key={account.account}>
              {account.name}: {whole(account.used)} posts, {dollars.format(account.cost)}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
