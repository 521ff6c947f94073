/** When the rules were watched, the gaps, and the matches over time: of all rules, or of one. */
import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "preact/hooks"
import { Link, useSearchParams } from "wouter-preact"
import { problemOf, useTRPC } from "../client.ts"
import { Empty } from "../parts/Empty.tsx"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { platformName } from "../parts/platformName.ts"
import { Time } from "../parts/Time.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { Waiting } from "../parts/Waiting.tsx"
import { useReader } from "../Reader.tsx"
import { gapsIn, type Period, startedIn } from "./coverage.ts"
import { GapTable } from "./GapTable.tsx"
import { asPeriodName, isShortest, PERIODS, periodUntil, STEP_MILLIS, trimmed, zoomed, zoomedIn } from "./period.ts"
import { rowsOf } from "./rows.tsx"
import { Timeline } from "./Timeline.tsx"
import { type Coverage, useCoverage } from "./useCoverage.ts"
import { Volume } from "./Volume.tsx"

export const CoveragePage = () => {
  useTitle("Coverage")
  const { may } = useReader()
  const [search, setSearch] = useSearchParams()
  const name = asPeriodName(search.get("period"))
  const ruleId = search.get("rule") ?? undefined
  const platform = search.get("platform") ?? undefined
  const [zoom, setZoom] = useState<Period>()
  const { data: known } = useQuery(useTRPC().rules.list.queryOptions())
  const { data: coverage, error, refetch } = useCoverage({ ruleId, period: name })
  const platforms = (coverage?.platforms ?? []).filter((found) => platform === undefined || found.platform === platform)
  const chosen = periodUntil(useNow(), name)
  const whole = trimmed(chosen, startedIn(platforms, chosen).from, coverage?.firstMatch)
  const period = zoom === undefined ? whole : zoomed(zoom, whole)

  const choose = (field: string, value: string) => {
    setZoom(undefined)
    setSearch((search) => {
      const next = new URLSearchParams(search)
      if (value === "") next.delete(field)
      else next.set(field, value)
      return next
    })
  }
  const rules = known?.rules ?? []
  const gaps = platforms
    .flatMap((found) => gapsIn(found, period))
    .filter(({ kind, ruleId: only }) => (kind === "lost" || kind === "open") && (only === undefined || only === ruleId))
  const reset = () => setZoom(undefined)
  return (
    <>
      <div class="head">
        <h1>Coverage and volume</h1>
        <Choice label="Rule" value={ruleId ?? ""} onChoose={(value) => choose("rule", value)}>
          {[["", "All rules"], ...rules.map(({ id, name }) => [id, name] as const)]}
        </Choice>
        <Choice label="Platform" value={platform ?? ""} onChoose={(value) => choose("platform", value)}>
          {[
            ["", "All platforms"],
            ...(coverage?.platforms ?? []).map(({ platform: id }) => [id, platformName(id)] as const)
          ]}
        </Choice>
        <Choice label="Period" value={name} onChoose={(value) => choose("period", value)}>
          {PERIODS}
        </Choice>
      </div>
      {error !== null && <ProblemNote problem={problemOf(error)} onRetry={() => void refetch()} />}
      {coverage === undefined && error === null && <Waiting />}
      {coverage?.platforms.length === 0 && (
        <Empty title="Nothing to watch yet">
          {may("write") ? (
            <Link href="/rules/new">Create a rule</Link>
          ) : (
            "Create a rule with a key that has write access"
          )}{" "}
          to see when it was watched, and its matches over time.
        </Empty>
      )}
      {coverage !== undefined && coverage.platforms.length > 0 && (
        <>
          <ZoomControls period={period} whole={whole} isZoomed={zoom !== undefined} onZoom={setZoom} onReset={reset} />
          {whole.from > chosen.from && (
            <p class="quiet">
              No data before <Time at={new Date(whole.from).toISOString()} form="full" />.
            </p>
          )}
          <section>
            <h2>Coverage</h2>
            <Timeline rows={rowsOf({ platforms, rules, ruleId, period })} period={period} />
            <KeptSince coverage={coverage} period={period} />
          </section>
          <section>
            <h2>Matches</h2>
            <Volume
              ruleId={ruleId}
              platform={platform}
              rules={rules}
              gaps={gaps}
              period={period}
              onZoom={(wanted) => setZoom(zoomed(wanted, whole))}
              onReset={reset}
            />
          </section>
          <section>
            <h2>Gaps</h2>
            <GapTable platforms={platforms} period={period} rules={rules} />
          </section>
        </>
      )}
    </>
  )
}

// ---- helpers ----

/** The time, as often as the page changes by itself. */
const useNow = (): number => {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), STEP_MILLIS)
    return () => clearInterval(timer)
  }, [])
  return now
}

const Choice = ({
  label,
  value,
  onChoose,
  children
}: {
  readonly label: string
  readonly value: string
  readonly onChoose: (value: string) => void
  /** Each value with its name. */
  readonly children: ReadonlyArray<ReadonlyArray<string>>
}) => (
  <select aria-label={label} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
    {children.map(([option, name]) => (
      <option key={option} value={option}>
        {name}
      </option>
    ))}
  </select>
)

const ZoomControls = ({
  period,
  whole,
  isZoomed,
  onZoom,
  onReset
}: {
  readonly period: Period
  readonly whole: Period
  readonly isZoomed: boolean
  readonly onZoom: (period: Period) => void
  readonly onReset: () => void
}) => {
  const length = period.to - period.from
  const shifted = (by: number) => zoomed({ from: period.from + by, to: period.to + by }, whole)
  return (
    <div class="controls">
      <span>
        <Time at={new Date(period.from).toISOString()} form="full" /> to{" "}
        <Time at={new Date(period.to).toISOString()} form="full" />
      </span>
      <button type="button" disabled={isShortest(period)} onClick={() => onZoom(zoomedIn(period, whole))}>
        Zoom in
      </button>
      <button type="button" disabled={!isZoomed} onClick={() => onZoom(shifted(-length / 2))}>
        Earlier
      </button>
      <button type="button" disabled={!isZoomed} onClick={() => onZoom(shifted(length / 2))}>
        Later
      </button>
      <button type="button" disabled={!isZoomed} onClick={onReset}>
        Reset zoom
      </button>
    </div>
  )
}

/** If retention deleted matches of the period. */
const KeptSince = ({ coverage, period }: { readonly coverage: Coverage; readonly period: Period }) =>
  coverage.kept_since === undefined || Date.parse(coverage.kept_since) <= period.from ? null : (
    <p class="quiet">
      Matches from before <Time at={coverage.kept_since} form="full" /> have been deleted.
    </p>
  )
