/** The status use cases: readiness, the status of each platform, and the platform gauges. */
import { Clock, Context, Deferred, Effect, Layer, Option, Schedule } from "effect"
import { PostBudget } from "../budget/PostBudget.ts"
import { platformCoverage, snapshotOf } from "../coverage/coverageOf.ts"
import { StreamStore } from "../coverage/StreamStore.ts"
import { Disk } from "../disk/Disk.ts"
import { KeyStore } from "../keys/KeyStore.ts"
import type { DiskProblem, StoreUnavailable } from "../model/Errors.ts"
import { type AccountId, timeOf } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { Ownership, streamOf } from "../ownership/Ownership.ts"
import { Servers, type StreamReport } from "../ownership/Servers.ts"
import { type Platform, Platforms } from "../platforms/Platform.ts"
import { Registrations } from "../rules/Registrations.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import { WebhookStore } from "../webhooks/WebhookStore.ts"
import { sharedRead } from "../work/sharedRead.ts"
import { isOrphaned, type PlatformStatus, statusOf } from "./PlatformStatus.ts"

export interface Readiness {
  readonly ready: boolean
  readonly store: "ok" | "unavailable"
  /** Why it is not ready, if more is known than that the store does not respond. */
  readonly reason?: DiskProblem
  readonly platforms: ReadonlyArray<PlatformId>
}

/** What is known of the disk of the store. */
export interface StoreStatus {
  readonly state: "ok" | "nearly_full" | DiskProblem
  readonly folder?: string
  readonly disk_bytes?: number
  readonly free_bytes?: number
  /** With less than this free, the accounts that store the most may not send events. */
  readonly floor_bytes?: number
}

export class Status extends Context.Tag("core/Status")<
  Status,
  {
    /** Ready if the store responds within two seconds, its disk can be written, and no newer version has changed it. */
    readonly readiness: Effect.Effect<Readiness>
    /** In the order in which the platforms were registered. `viewer`: none for the operator, who sees all accounts. */
    readonly platforms: (
      viewer: Option.Option<AccountId>
    ) => Effect.Effect<ReadonlyArray<PlatformStatus>, StoreUnavailable>
    /** For the operator. */
    readonly store: Effect.Effect<StoreStatus>
    /** Whether the store answers within two seconds. Asked at most once per second. */
    readonly storeAnswers: Effect.Effect<boolean>
    /** While the store is down, the gauges that depend on it are absent. */
    readonly updateGauges: Effect.Effect<void>
  }
>() {
  static readonly layer: Layer.Layer<
    Status,
    never,
    Platforms | Registrations | RuleStore | StreamStore | KeyStore | WebhookStore | PostBudget
  > = Layer.scoped(
    Status,
    Effect.gen(function* () {
      const registry = yield* Platforms
      const registrations = yield* Registrations
      const rules = yield* RuleStore
      const streams = yield* StreamStore
      const keys = yield* KeyStore
      const webhooks = yield* WebhookStore
      const budget = yield* PostBudget
      const servers = yield* Servers
      const ownership = yield* Ownership
      const disk = yield* Disk

      const ownReport = (platform: Platform) =>
        Effect.gen(function* () {
          const plan = platform.plan?.current()
          const report: StreamReport = {
            stream: yield* platform.status,
            sync: yield* registrations.syncStatus(platform.id),
            ...(plan !== undefined && { plan })
          }
          return report
        })

      /** If another server watches the platform, what that one says. */
      const reportOn = (platform: Platform) =>
        Effect.gen(function* () {
          if (!platform.capabilities.isRemote) return yield* ownReport(platform)
          const own = yield* ownership.ifOwner(streamOf(platform.id), ownReport(platform))
          if (Option.isSome(own)) return own.value
          return Option.getOrElse(yield* servers.reportOn(platform.id), () => notWatched)
        })

      // The servers tell each other what they know of the streams.
      if (!ownership.isAlone) {
        const report = (platform: Platform) =>
          Effect.gen(function* () {
            const reported = yield* ownership.ifOwner(
              streamOf(platform.id),
              Effect.flatMap(ownReport(platform), (found) => servers.report(platform.id, found))
            )
            if (Option.isSome(reported)) return
            const { plan } = yield* reportOn(platform)
            if (plan !== undefined) platform.plan?.adopt(plan)
          })
        yield* Effect.flatMap(registry.all, (all) =>
          Effect.forEach(
            all.filter(({ capabilities }) => capabilities.isRemote),
            report,
            { discard: true }
          )
        ).pipe(
          // Debug level: other services report that the store is down.
          Effect.catchAll(({ cause }) => Effect.logDebug("Cannot report on the streams", cause)),
          Effect.repeat(Schedule.spaced(REPORT_INTERVAL)),
          Effect.forkScoped
        )
      }

      // The same read as in every request. No key has this digest.
      const responds = keys.findByDigest("readiness", NEVER).pipe(
        // A statement on a dead connection is left to itself.
        Effect.disconnect,
        Effect.timeout(STORE_TIMEOUT),
        Effect.isSuccess
      )
      const storeAnswers = sharedRead(responds, ANSWER_MILLIS)

      const readiness = Effect.gen(function* () {
        const problem = yield* disk.problem
        const ready = Option.isNone(problem) && (yield* responds) && !(yield* Deferred.isDone(ownership.outdated))
        const platforms = (yield* registry.all).map(({ id }) => id)
        const store = ready ? ("ok" as const) : ("unavailable" as const)
        return { ready, store, ...(Option.isSome(problem) && { reason: problem.value }), platforms }
      })

      const store = Effect.gen(function* () {
        const space = yield* disk.space
        const isLow = Option.exists(space, ({ free, floor }) => free < floor)
        const state = Option.getOrElse(yield* disk.problem, () => (isLow ? ("nearly_full" as const) : ("ok" as const)))
        return {
          state,
          ...(Option.isSome(disk.location) && { folder: disk.location.value }),
          ...(Option.isSome(space) && {
            disk_bytes: space.value.total,
            free_bytes: space.value.free,
            floor_bytes: space.value.floor
          })
        }
      })

      const statusAt = (platform: Platform, viewer: Option.Option<AccountId>, now: number) =>
        Effect.gen(function* () {
          const { stream, sync } = yield* reportOn(platform)
          const snapshot = yield* snapshotOf(streams, platform.id)
          return statusOf(platform, {
            stream,
            sync,
            owner: yield* servers.ownerOf(streamOf(platform.id)),
            isOperator: Option.isNone(viewer),
            wanted: yield* rules.wanted(platform.id),
            coverage: platformCoverage(platform.id, snapshot, { from: Option.some(now - DAY_MILLIS), to: now }),
            budget: yield* budget.usage(platform, viewer)
          })
        })

      const platforms = (viewer: Option.Option<AccountId>) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          return yield* Effect.forEach(yield* registry.all, (platform) => statusAt(platform, viewer, now))
        })

      const quickly = <A, E>(read: Effect.Effect<A, E>) =>
        Effect.map(Effect.option(Effect.timeout(Effect.disconnect(read), STORE_TIMEOUT)), Option.getOrUndefined)

      const updateGaugesOf = (platform: Platform) =>
        Effect.gen(function* () {
          const { id } = platform
          const report = yield* quickly(reportOn(platform))
          const owner = (yield* quickly(servers.ownerOf(streamOf(id)))) ?? Option.none()
          yield* Metrics.setOwner(id, Option.getOrUndefined(owner))
          yield* Metrics.setStreamState(id, isOrphaned(platform, owner) ? "waiting" : report?.stream.state)
          const comparison = report === undefined ? undefined : Option.getOrUndefined(report.sync.comparison)
          yield* Metrics.setDrift(id, comparison)
          yield* Metrics.setRulesWanted(id, yield* quickly(rules.wanted(id)))
          const used = yield* quickly(budget.usage(platform, Option.none()))
          yield* Metrics.setBudget(id, Option.getOrUndefined(used ?? Option.none()))
        })

      const updateBacklog = Effect.gen(function* () {
        const backlog = yield* quickly(webhooks.backlog(yield* registry.ids))
        if (backlog === undefined) return yield* Metrics.setWebhookBacklog(undefined)
        const now = yield* Clock.currentTimeMillis
        const since = Option.match(backlog.oldest, { onNone: () => now, onSome: timeOf })
        yield* Metrics.setWebhookBacklog({
          messages: backlog.messages,
          oldestSeconds: Math.max(0, now - since) / 1_000,
          disabled: backlog.disabled
        })
      })

      const updateGauges = Effect.gen(function* () {
        const isUp = yield* storeAnswers
        yield* Metrics.setStoreUp(isUp)
        if (!isUp) return
        yield* Effect.forEach(yield* registry.all, updateGaugesOf, { discard: true, concurrency: "unbounded" })
        yield* updateBacklog
        const alive = yield* quickly(servers.list)
        // One server without a cluster lists none.
        yield* Metrics.setServers(alive?.length === 0 ? undefined : alive?.length)
      })

      return Status.of({ readiness, store, platforms, storeAnswers, updateGauges })
    })
  )
}

// ---- helpers ----

const DAY_MILLIS = 86_400_000

const NEVER = Timestamp.fromMillis(0)

const REPORT_INTERVAL = "2 seconds"

const notWatched: StreamReport = {
  stream: {
    state: "waiting",
    detail: "No server watches the platform yet",
    since: 0,
    lastEventAt: Option.none(),
    lastError: Option.none()
  },
  sync: { comparison: Option.none(), error: Option.none() }
}

const STORE_TIMEOUT = "2 seconds"

const ANSWER_MILLIS = 1_000
