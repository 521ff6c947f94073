/** Matches: the stored ones and the live tail, by rule, platform and time. */
import { useQuery } from "@tanstack/react-query"
import { useMemo } from "preact/hooks"
import { useLocation, useSearch } from "wouter-preact"
import { useTRPC } from "../client.ts"
import { useTitle } from "../parts/useTitle.ts"
import { Waiting } from "../parts/Waiting.tsx"
import { FilterForm } from "./FilterForm.tsx"
import { addressOf, type Filter, filterOf } from "./filter.ts"
import { MatchTail } from "./MatchTail.tsx"

export const MatchesPage = () => {
  useTitle("Matches")
  const [, go] = useLocation()
  const filter = filterOf(new URLSearchParams(useSearch()))
  const { data, error } = useQuery(useTRPC().rules.list.queryOptions(undefined, { refetchInterval: 30_000 }))
  const rules = useMemo(() => data?.rules ?? [], [data])
  const change = (next: Filter) => go(addressOf(next), { replace: true })
  return (
    <>
      <div class="head">
        <h1>Matches</h1>
      </div>
      <FilterForm filter={filter} rules={rules} onChange={change} />
      {data === undefined && error === null ? (
        <Waiting />
      ) : (
        <MatchTail key={addressOf(filter)} filter={filter} rules={rules} hasNoRules={data?.rules.length === 0} />
      )}
    </>
  )
}
