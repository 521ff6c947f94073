/** One rule: filters, state, versions, and what can be done with it. */
import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { Link, useLocation, useParams } from "wouter-preact"
import { type Answers, problemOf, type Rule, useTRPC } from "../client.ts"
import { Confirm } from "../parts/Confirm.tsx"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { byPlatform, platformName } from "../parts/platformName.ts"
import { Time } from "../parts/Time.tsx"
import { useChange } from "../parts/useChange.ts"
import { useTitle } from "../parts/useTitle.ts"
import { Waiting } from "../parts/Waiting.tsx"
import { useReader } from "../Reader.tsx"
import { LatestMatches } from "./LatestMatches.tsx"
import { PlatformState } from "./PlatformState.tsx"

export const RulePage = () => {
  const { id = "" } = useParams<{ id: string }>()
  const trpc = useTRPC()
  const { data, error, refetch } = useQuery(trpc.rules.get.queryOptions({ rule_id: id }, { refetchInterval: 10_000 }))
  useTitle(data?.rule.name ?? "Rule")
  if (data === undefined) {
    if (error === null) return <Waiting />
    return (
      <>
        <ProblemNote problem={problemOf(error)} onRetry={() => void refetch()} />
        <p>
          <Link href="/">All rules</Link>
        </p>
      </>
    )
  }
  const { rule } = data
  return (
    <>
      <div class="head">
        <h1>{rule.name}</h1>
        <Controls rule={rule} />
      </div>
      <p>{rule.intent}</p>
      <Filters rule={rule} />
      <LatestMatches rule={rule} />
      <Versions rule={rule} />
    </>
  )
}

// ---- helpers ----

type Version = Answers["rules"]["versions"]["versions"][number]

const Filters = ({ rule }: { readonly rule: Rule }) => (
  <section aria-label="Filters">
    {byPlatform(rule.platforms).map(([platform, registration]) => (
      <div class="card" key={platform}>
        <PlatformState platform={platform} registration={registration} />
        <pre>{registration.translated_value}</pre>
        {registration.reason !== undefined && <p class="warning">{registration.reason}</p>}
      </div>
    ))}
  </section>
)

const Controls = ({ rule }: { readonly rule: Rule }) => {
  const trpc = useTRPC().rules
  const { may } = useReader()
  const [, go] = useLocation()
  const [isDeleting, setDeleting] = useState(false)
  const pause = useChange(trpc.pause.mutationOptions())
  const resume = useChange(trpc.resume.mutationOptions())
  const remove = useChange(trpc.delete.mutationOptions(), () => go("/", { state: { deleted: rule.name } }))
  if (!may("write")) return null

  const isPaused = Object.values(rule.platforms).some(({ paused_by }) => paused_by === "account")
  const change = isPaused ? resume : pause
  const failed = pause.error ?? resume.error
  return (
    <>
      <Link href={`/rules/${rule.id}/edit`} class="button">
        Edit
      </Link>
      <button type="button" disabled={change.isPending} onClick={() => change.mutate({ rule_id: rule.id })}>
        {isPaused ? "Resume" : "Pause"}
      </button>
      <button type="button" class="danger" onClick={() => setDeleting(true)}>
        Delete
      </button>
      {failed !== null && <ProblemNote problem={problemOf(failed)} />}
      {isDeleting && (
        <Confirm
          title={`Delete “${rule.name}”?`}
          action="Delete rule"
          change={remove}
          onConfirm={() => remove.mutate({ rule_id: rule.id })}
          onClose={() => setDeleting(false)}
        >
          <p>
            The platforms stop watching for it, and its matches and versions are deleted. To keep them, pause the rule
            instead.
          </p>
        </Confirm>
      )}
    </>
  )
}

const Versions = ({ rule }: { readonly rule: Rule }) => {
  const { data } = useQuery(useTRPC().rules.versions.queryOptions({ rule_id: rule.id }))
  return (
    <section>
      <h2>Versions</h2>
      <ol class="rows" reversed>
        {(data?.versions ?? []).map((version) => (
          <li class="row" key={version.version}>
            <span>Version {version.version}</span>
            <span class="quiet">{describeChange(version)}</span>
            <Time at={version.at} form="full" />
            {version.changed.some((field) => field.startsWith("overrides")) && (
              <details class="version-filters">
                <summary>Filters in version {version.version}</summary>
                {byPlatform(version.overrides).map(([platform, filter]) => (
                  <p key={platform}>
                    {platformName(platform)} <code>{filter}</code>
                  </p>
                ))}
              </details>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

const describeChange = ({ version, changed, paused }: Version): string => {
  if (version === 1) return paused ? "created, paused" : "created"
  const changes = changed.map((field) => {
    if (field === "paused") return paused ? "paused" : "resumed"
    const [, platform] = field.split("overrides.")
    return platform === undefined ? `${field} changed` : `filter for ${platformName(platform)} changed`
  })
  return changes.join(", ")
}
