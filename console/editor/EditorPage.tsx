/** Writes a new rule, or a new version of one. */
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "wouter-preact"
import { type PlatformStatus, problemOf, useTRPC } from "../client.ts"
import { Empty } from "../parts/Empty.tsx"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { Waiting } from "../parts/Waiting.tsx"
import { useReader } from "../Reader.tsx"
import { RuleForm } from "./RuleForm.tsx"

export const EditorPage = () => {
  const { id } = useParams<{ id?: string }>()
  const { may } = useReader()
  const trpc = useTRPC()
  const syntax = useQuery(trpc.platforms.syntax.queryOptions({}, { staleTime: Number.POSITIVE_INFINITY }))
  const rule = useQuery({
    ...trpc.rules.get.queryOptions({ rule_id: id ?? "" }),
    enabled: id !== undefined,
    staleTime: 0
  })
  const status = useQuery({ ...trpc.platforms.status.queryOptions(), enabled: id === undefined })
  useTitle(id === undefined ? "New rule" : `Edit ${rule.data?.rule.name ?? "rule"}`)

  if (!may("write")) {
    return <Empty title="This key is read-only">To edit rules, sign in with a key that has write access.</Empty>
  }
  const failed = syntax.error ?? rule.error
  if (failed !== null) {
    const retry = () => void Promise.all([syntax.refetch(), id !== undefined && rule.refetch()])
    return (
      <>
        <ProblemNote problem={problemOf(failed)} onRetry={retry} />
        <p>
          <Link href="/">All rules</Link>
        </p>
      </>
    )
  }
  // The form begins with the newest version, and later answers do not change it.
  if (syntax.data === undefined || (id === undefined ? status.isPending : !rule.isFetchedAfterMount)) return <Waiting />
  const { platforms } = syntax.data
  // Without the status, any will do.
  const first = status.data?.platforms.find(delivers)?.platform ?? Object.keys(platforms)[0]
  return <RuleForm key={id ?? "new"} platforms={platforms} first={first} rule={rule.data?.rule} />
}

// ---- helpers ----

/** Others have only the events that somebody sends to this server, or none. */
const delivers = ({ source, demo_feed, stream }: PlatformStatus): boolean =>
  demo_feed === true || (source === "upstream" && stream.state !== "refused" && stream.state !== "off")
