/** Each limit of the account with what is used of it. */
import { useQuery } from "@tanstack/react-query"
import { useTRPC } from "../client.ts"
import { Meter } from "../parts/Meter.tsx"
import { useReader } from "../Reader.tsx"
import { describeLimit } from "./limit.ts"

export const Limits = ({ hasHeading }: { readonly hasHeading: boolean }) => {
  const { account } = useReader()
  const { data = account } = useQuery(useTRPC().account.get.queryOptions(undefined, { refetchInterval: 10_000 }))
  return (
    <section aria-label="Limits">
      {hasHeading && <h2>Limits</h2>}
      <p class="quiet">
        Requests over a limit fail with <code>resource_exhausted</code>. The operator of the server can change the
        limits of an account.
      </p>
      <dl class="facts">
        {data.limits.map((limit) => (
          <div key={limit.name}>
            <dt>{limit.description}</dt>
            <dd>
              <Meter share={limit.limit === null ? undefined : limit.used / limit.limit}>{describeLimit(limit)}</Meter>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
