/** Each limit of the account with what is used of it. */
import { useQuery } from "@tanstack/react-query"
import { type Answers, useTRPC } from "../client.ts"
import { Meter } from "../parts/Meter.tsx"
import { useReader } from "../Reader.tsx"

type Limit = Answers["account"]["get"]["limits"][number]

export const Limits = () => {
  const { account } = useReader()
  const { data = account } = useQuery(useTRPC().account.get.queryOptions(undefined, { refetchInterval: 10_000 }))
  return (
    <section>
      <h2>Limits</h2>
      <p class="quiet">
        Beyond a limit, requests fail with <code>resource_exhausted</code>. The operator of the server can change the
        limits of an account.
      </p>
      <dl class="facts">
        {data.limits.map((limit) => (
          <div key={limit.name}>
            <dt>{limit.description}</dt>
            <dd>
              <Meter share={limit.limit === null ? undefined : limit.used / limit.limit}>{describe(limit)}</Meter>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

// ---- helpers ----

const numbers = new Intl.NumberFormat()
const MEGABYTE = 1_000_000

const describe = ({ name, limit, used, resets_in_seconds }: Limit): string => {
  const format = (amount: number) =>
    name === "bytes" ? `${numbers.format(Math.round(amount / MEGABYTE))} MB` : numbers.format(amount)
  const again = resets_in_seconds === undefined || used === 0 ? "" : `; starts again in ${resets_in_seconds} s`
  return limit === null ? `${format(used)}, no limit` : `${format(used)} of ${format(limit)}${again}`
}
