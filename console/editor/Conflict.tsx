/** Someone else changed the rule while the reader did. */
import { useQuery } from "@tanstack/react-query"
import { problemOf, type Rule, useTRPC } from "../client.ts"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { Waiting } from "../parts/Waiting.tsx"

export const Conflict = ({
  ruleId,
  onLoad,
  onOverwrite
}: {
  readonly ruleId: string
  readonly onLoad: (latest: Rule) => void
  readonly onOverwrite: (latest: Rule) => void
}) => {
  const { data, error, isFetchedAfterMount } = useQuery({
    ...useTRPC().rules.get.queryOptions({ rule_id: ruleId }),
    staleTime: 0
  })
  if (error !== null) return <ProblemNote problem={problemOf(error)} />
  if (data === undefined || !isFetchedAfterMount) return <Waiting />
  const { rule } = data
  return (
    <div class="problem" role="alert">
      <p>Someone else changed this rule: it is now at version {rule.version}. Your changes are not saved.</p>
      <div class="filter-actions">
        <button type="button" onClick={() => onLoad(rule)}>
          Load version {rule.version} and discard my changes
        </button>
        <button type="button" class="danger" onClick={() => onOverwrite(rule)}>
          Overwrite it with my changes
        </button>
      </div>
    </div>
  )
}
