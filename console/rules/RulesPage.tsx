/** All rules with their state, volume, last match and coverage. */
import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { Link } from "wouter-preact"
import { problemOf, type Rule, useTRPC } from "../client.ts"
import { Empty } from "../parts/Empty.tsx"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { Waiting } from "../parts/Waiting.tsx"
import { useReader } from "../Reader.tsx"
import { RuleRow } from "./RuleRow.tsx"
import { useActivity } from "./useActivity.ts"

export const RulesPage = () => {
  useTitle("Rules")
  const trpc = useTRPC()
  const { may } = useReader()
  const [search, setSearch] = useState("")
  const [deleted] = useState(deletedName)
  const activityOf = useActivity()
  const { data, error, refetch } = useQuery({ ...trpc.rules.list.queryOptions(), refetchInterval: 10_000 })

  if (data === undefined) {
    return error === null ? <Waiting /> : <ProblemNote problem={problemOf(error)} onRetry={() => void refetch()} />
  }
  const found = data.rules.filter((rule) => isFound(rule, search))
  return (
    <>
      <div class="head">
        <h1>Rules</h1>
        {data.rules.length > 0 && (
          <input
            type="search"
            class="search"
            aria-label="Search rules"
            placeholder="Search"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        )}
        {may("write") && (
          <Link href="/rules/new" class="button main">
            New rule
          </Link>
        )}
      </div>
      {deleted !== undefined && (
        <p class="quiet" role="status">
          Deleted “{deleted}” and its matches.
        </p>
      )}
      {data.rules.length === 0 ? (
        <Empty title="No rules yet">
          {may("write") ? (
            <>
              A rule says what to watch for. <Link href="/rules/new">Create your first rule</Link> and see its matches
              as they happen.
            </>
          ) : (
            "This key is read-only. To create a rule, sign in with a key that has write access."
          )}
        </Empty>
      ) : found.length === 0 ? (
        <Empty title="No rules found">The search covers names, intents and filters.</Empty>
      ) : (
        <>
          <div class="rule-row rule-heads quiet" aria-hidden="true">
            <span>Rule</span>
            <span>Last 24 hours</span>
            <span>Platforms and coverage</span>
          </div>
          <ul class="rows">
            {found.map((rule) => (
              <RuleRow key={rule.id} rule={rule} activity={activityOf?.(rule)} />
            ))}
          </ul>
        </>
      )}
    </>
  )
}

// ---- helpers ----

/** Of the rule that the reader deleted on the page before. */
const deletedName = (): string | undefined => {
  const name: unknown = history.state?.deleted
  return typeof name === "string" ? name : undefined
}

const isFound = ({ name, intent, platforms }: Rule, search: string): boolean => {
  const filters = Object.values(platforms).map(({ translated_value }) => translated_value)
  const text = [name, intent, ...filters].join("\n").toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
