/** Clears stuck connections: X may count a broken connection for hours, and refuses a new one until then. */
import { Clock, Effect } from "effect"
import { counted } from "../../core/text/counted.ts"
import { instantOf, jsonOf, numberOf, objectOf, objectsOf, textOf } from "../../core/text/json.ts"
import type { Budget } from "../http/Budget.ts"
import { Unreachable } from "../http/call.ts"
import type { Upstream, UpstreamCall } from "../http/Upstream.ts"
import { applyRateLimit, callBudget } from "./limits.ts"
import { problemIn } from "./problems.ts"

export class Connections {
  private readonly upstream: Upstream
  /** X allows 25. */
  private readonly kills = callBudget(20)
  /** X documents no limit. We assume that of kills. */
  private readonly lists = callBudget(20)

  private startedAt: number
  private patienceMillis = PATIENCE_MILLIS
  private ownTimes: ReadonlyArray<number> = []
  private refusedSince: number | undefined

  /** `startedAt`: of this process, in milliseconds. */
  constructor(upstream: Upstream, startedAt: number) {
    this.upstream = upstream
    this.startedAt = startedAt
  }

  /** Only this server may have a connection from now on: those before it are left from the owner before. */
  tookOver(at: number): void {
    this.startedAt = at
    this.patienceMillis = 0
  }

  /** When we opened a connection, in milliseconds. */
  opened(at: number): void {
    this.ownTimes = [...this.ownTimes, at].slice(-MAX_TIMES)
    this.refusedSince = undefined
  }

  /**
   * X refuses a connection because it counts another one of the app. Kills those that this process opened and no longer
   * holds, and after a while also those from before its start: an earlier process may have left them. `held` is when
   * the connections that we hold were opened, in milliseconds. Returns how many X killed. A failure is only logged.
   */
  clearStuck(held: ReadonlyArray<number>): Effect.Effect<number> {
    return Effect.gen(this, function* () {
      const now = yield* Clock.currentTimeMillis
      this.refusedSince ??= now
      const isPatient = now - this.refusedSince >= this.patienceMillis
      const isStuck = ({ since }: Listed) =>
        !isNear(since, held) && (isNear(since, this.ownTimes) || (isPatient && since < this.startedAt))
      const stuck = (yield* this.list).filter(isStuck)
      if (stuck.length === 0) return 0
      const killed = yield* this.kill(stuck.map(({ id }) => id))
      const described = stuck.map(({ since, from }) => `since ${new Date(since).toISOString()}${from}`).join(", ")
      yield* Effect.logWarning(
        `Closed ${killed} of ${counted(stuck.length, "connection")} of this app that "x" still counted (${described}). If another program uses the stream, give it an app of its own`
      )
      return killed
    }).pipe(
      Effect.catchTag("Unreachable", ({ reason }) =>
        Effect.as(Effect.logWarning(`Cannot close the stuck connections of "x": ${reason}`), 0)
      )
    )
  }

  private readonly list: Effect.Effect<ReadonlyArray<Listed>, Unreachable> = Effect.suspend(() =>
    Effect.map(
      this.send(this.lists, {
        path: PATH,
        query: { status: "active", endpoints: FILTERED_STREAM, max_results: String(MAX_KILLS) }
      }),
      ({ data }) =>
        objectsOf(data).flatMap(({ id, endpoint_name, connected_at, disconnected_at, client_ip }) => {
          const uuid = textOf(id)
          const since = instantOf(connected_at)
          const isStream = endpoint_name === FILTERED_STREAM && disconnected_at === undefined
          const from = addressPattern.test(textOf(client_ip) ?? "") ? ` from ${client_ip}` : ""
          return isStream && uuid !== undefined && since !== undefined ? [{ id: uuid, since, from }] : []
        })
    )
  )

  private kill(uuids: ReadonlyArray<string>): Effect.Effect<number, Unreachable> {
    return Effect.map(
      this.send(this.kills, { method: "DELETE", path: PATH, body: { uuids: uuids.slice(0, MAX_KILLS) } }),
      ({ data }) => numberOf(objectOf(data)?.["successful_kills"]) ?? 0
    )
  }

  private send(budget: Budget, call: UpstreamCall) {
    return Effect.gen(this, function* () {
      if ((yield* budget.take) > 0) {
        return yield* new Unreachable({ reason: "the rate limit for 15 minutes is used up" })
      }
      const { status, headers, text } = yield* this.upstream.call(call)
      yield* applyRateLimit(budget, headers)
      const body = objectOf(jsonOf(text)) ?? {}
      if (status === 200) return body
      const { detail } = problemIn(body)
      return yield* new Unreachable({ reason: `X answered ${status}${detail === "" ? "" : ` (${detail})`}` })
    })
  }
}

// ---- helpers ----

const PATH = "/2/connections"
const FILTERED_STREAM = "filtered_stream"

/** X's limit per call. */
const MAX_KILLS = 100

const addressPattern = /^[0-9a-f.:]{2,45}$/i

/** Between X's clock and ours. */
const TOLERANCE_MILLIS = 30_000

const isNear = (time: number, times: ReadonlyArray<number>): boolean =>
  times.some((other) => Math.abs(time - other) <= TOLERANCE_MILLIS)

/** X frees the slot of a broken connection after some seconds, if all is well. */
const PATIENCE_MILLIS = 60_000

const MAX_TIMES = 20

interface Listed {
  readonly id: string
  /** In milliseconds. */
  readonly since: number
  /** The address of the client, for messages. */
  readonly from: string
}
