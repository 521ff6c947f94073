/**
 * `Ownership` for several servers on one Postgres: singletons of @effect/cluster, with an epoch for each owner. Loaded on
 * demand: the embedded store has a single server.
 */
import * as EntityId from "@effect/cluster/EntityId"
import * as MessageStorage from "@effect/cluster/MessageStorage"
import * as RunnerAddress from "@effect/cluster/RunnerAddress"
import * as RunnerHealth from "@effect/cluster/RunnerHealth"
import * as Runners from "@effect/cluster/Runners"
import * as Sharding from "@effect/cluster/Sharding"
import * as ShardingConfig from "@effect/cluster/ShardingConfig"
import * as SqlRunnerStorage from "@effect/cluster/SqlRunnerStorage"
import { SqlClient } from "@effect/sql/SqlClient"
import { Deferred, Effect, FiberRef, Layer, Logger, LogLevel, Option, Schedule } from "effect"
import { CurrentFence, type Fence, Ownership, type OwnershipService } from "../../core/ownership/Ownership.ts"
import type { Announcements } from "./Announcements.ts"
import { addressText, LOCK_SECONDS } from "./liveServers.ts"
import { checkSchema } from "./migrate.ts"
import * as SharedClock from "./SharedClock.ts"
import * as SqlRuleRequests from "./SqlRuleRequests.ts"
import * as stickyLocks from "./stickyLocks.ts"

export interface Options {
  /** For people: where the server runs. */
  readonly name: string
  readonly version: string
  /** The database, for messages. */
  readonly location: string
}

/** Also sets the clock of all that is built on it. */
export const layerWith = (options: Options): Layer.Layer<never, never, SqlClient | Announcements> =>
  Layer.unwrapEffect(
    Effect.sync(() => {
      const id = crypto.randomUUID()
      const clock = SharedClock.make()
      const parts: Parts = { id, clock, wanted: new Set(), stopping: { hasBegun: false } }
      const ownership = Layer.scoped(Ownership, make({ ...options, ...parts }))
      return Layer.merge(Layer.provide(ownership, sharding(parts)), Layer.setClock(clock.clock))
    })
  )

// ---- helpers ----

interface Parts {
  readonly id: string
  readonly clock: SharedClock.SharedClock
  /** The locks that have work. */
  readonly wanted: Set<string>
  readonly stopping: { hasBegun: boolean }
}

/** Many more than there is work, so that hardly any two share a lock. */
const SHARDS = 300

/** The servers never talk to each other, only to the database: an address is just a name. */
const addressOf = (id: string) => RunnerAddress.make(id, 1)

const sharding = ({ id, wanted, stopping }: Parts) => {
  const config = ShardingConfig.layer({
    runnerAddress: Option.some(addressOf(id)),
    shardsPerGroup: SHARDS,
    // An advisory lock stays with a frozen process for as long as its connection is open.
    shardLockDisableAdvisory: true,
    shardLockExpiration: `${LOCK_SECONDS} seconds`,
    // Also the time limit of a renewal: on a busy machine one takes a second.
    shardLockRefreshInterval: "2 seconds",
    entityMessagePollInterval: "500 millis"
  })
  const storage = Layer.provide(
    stickyLocks.layerWith({ self: id, wanted, isStopping: () => stopping.hasBegun }),
    SqlRunnerStorage.layerWith({ prefix: "earshot" })
  )
  const others = Layer.mergeAll(Runners.layerNoop, RunnerHealth.layerNoop, storage).pipe(
    Layer.provideMerge(MessageStorage.layerNoop),
    Layer.provideMerge(config)
  )
  // Its errors are about shards and runners, and come with a stack. The owners below report in our words.
  return Layer.provide(Sharding.layer, others).pipe(
    Layer.orDie,
    Layer.locally(FiberRef.currentMinimumLogLevel, LogLevel.None)
  )
}

const make = ({ id, name, version, location, clock, wanted, stopping }: Options & Parts) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const cluster = yield* Sharding.Sharding
    yield* clock.follow
    /** The work that this server owns now. */
    const held = new Map<string, Fence>()

    const register = sql`insert into servers (id, name, version, started_at)
      values (${id}, ${name}, ${version}, now()) on conflict (id) do nothing`
    yield* Effect.retry(Effect.zipRight(register, forgetDead(sql)), patiently).pipe(Effect.orDie)
    // Repeated, because another server may delete the row of a frozen one.
    yield* Effect.forkScoped(Effect.schedule(Effect.ignore(register), Schedule.spaced("30 seconds")))

    const outdated = yield* Deferred.make<never, Error>()
    /** Fails if the answer is not known, too. */
    const checkVersion = checkSchema(location).pipe(
      Effect.provideService(SqlClient, sql),
      Effect.tapErrorTag("StoreCannotOpen", (error) => Deferred.fail(outdated, error)),
      // A statement on a dead connection is left to itself.
      Effect.disconnect,
      Effect.timeout(`${CHECK_SECONDS} seconds`)
    )
    yield* Effect.forkScoped(Effect.repeat(Effect.ignore(checkVersion), Schedule.spaced(`${CHECK_SECONDS} seconds`)))

    /** Releases the locks, and this server is no longer listed. Its name stays: it is the last owner until the next one. */
    const leave = (locks: ReadonlyArray<string>) =>
      Effect.suspend(() => {
        for (const lock of locks) wanted.delete(lock)
        stopping.hasBegun = true
        return sql`with leaving as (delete from earshot_runners where address = ${addressText(id)})
          delete from earshot_locks where shard_id = any(${locks}) and address = ${addressText(id)}`
      }).pipe(Effect.ignore)
    yield* Effect.forkScoped(
      Effect.catchAll(Deferred.await(outdated), ({ message }) =>
        Effect.zipRight(Effect.logError(`This server ends: ${message}`), leave([...wanted]))
      )
    )

    const lockOf = (work: string) => String(cluster.getShardId(EntityId.make(work), "default"))

    /** Waits until this server has the lock: it may have been frozen since it took it. */
    const nextEpoch = (work: string) =>
      Effect.zipRight(checkVersion, takeEpoch(work)).pipe(Effect.retry(patiently), Effect.orDie)
    const takeEpoch = (work: string) =>
      sql<{ readonly epoch: number }>`
        insert into owners (name, epoch, server, since) select ${work}, 1, ${id}, now() where exists (
          select 1 from earshot_locks where shard_id = ${lockOf(work)} and address = ${addressText(id)}
            and acquired_at >= now()::timestamp - make_interval(secs => ${LOCK_SECONDS})
        )
        on conflict (name) do update set epoch = owners.epoch + 1, server = excluded.server, since = excluded.since
        returning epoch::float8`.pipe(
        Effect.flatMap(([row]) => (row === undefined ? Effect.fail("no lock") : Effect.succeed(row.epoch)))
      )

    const forget = (work: string, fence: Fence) => {
      if (held.get(work) === fence) held.delete(work)
    }

    const runOnce = <R>(work: string, effect: Effect.Effect<void, never, R>) =>
      Effect.gen(function* () {
        const replaced = yield* Deferred.make<void>()
        const epoch = yield* nextEpoch(work)
        // Not `Effect.never`: a caller in an uninterruptible region would wait for it forever.
        const lost = Effect.suspend(() => {
          forget(work, fence)
          return Effect.zipRight(Deferred.succeed(replaced, undefined), Effect.interrupt)
        })
        const fence: Fence = { name: work, epoch, lost }
        const fencedWork = Effect.provideService(effect, CurrentFence, Option.some(fence))
        yield* Effect.logInfo(`This server runs "${work}" now (epoch ${epoch})`)
        const ended = yield* Effect.acquireUseRelease(
          Effect.sync(() => held.set(work, fence)),
          () =>
            Effect.raceFirst(
              Effect.exit(fencedWork),
              Effect.exit(Effect.raceFirst(Deferred.await(replaced), Deferred.await(outdated)))
            ),
          () => Effect.sync(() => forget(work, fence))
        )
        if (yield* Deferred.isDone(outdated)) return yield* Effect.never
        if (yield* Deferred.isDone(replaced)) {
          yield* Effect.logWarning(`Another server runs "${work}" now: stopped it here (epoch ${epoch} is over)`)
          // By then the cluster has noticed it, too, and stops this.
          return yield* Effect.sleep(`${LOCK_SECONDS * 2} seconds`)
        }
        yield* Effect.logError(`"${work}" ended and starts again`, ended)
        yield* Effect.sleep("1 second")
      })

    const service: OwnershipService = {
      isAlone: false,
      outdated,
      requests: yield* SqlRuleRequests.make,
      own: (work, effect) =>
        Effect.gen(function* () {
          const lock = lockOf(work)
          wanted.add(lock)
          // After the work has stopped, long before the cluster's own end: the next owner need not wait for that. The
          // others do not leave a share to a server that stops.
          yield* Effect.addFinalizer(() => leave([lock]))
          const level = yield* FiberRef.get(FiberRef.currentMinimumLogLevel)
          // The cluster starts the work of a lock that it gets later on a fiber of its own, with its own log level and clock.
          yield* cluster.registerSingleton(
            work,
            Effect.forever(runOnce(work, effect)).pipe(Logger.withMinimumLogLevel(level), Effect.withClock(clock.clock))
          )
        }),
      ifOwner: (work, effect) =>
        Effect.suspend(() => {
          const fence = held.get(work)
          if (fence === undefined) return Effect.succeedNone
          // `lost` must stop the effect, but not the caller, which may ask again.
          return Effect.asSome(Effect.provideService(effect, CurrentFence, Option.some(fence))).pipe(
            Effect.catchAllCause((cause) => (held.get(work) === fence ? Effect.failCause(cause) : Effect.succeedNone))
          )
        })
    }
    return service
  })

/** Deletes the rows of former servers. For an hour, the operator can still read which one owned a stream last. */
const forgetDead = (sql: SqlClient) =>
  sql`delete from servers s where s.started_at < now() - interval '1 hour' and not exists (
    select 1 from earshot_runners r
    where r.address = s.id::text || ':1' and r.last_heartbeat > now()::timestamp - interval '1 hour'
  )`

/** As often as locks are renewed. */
const CHECK_SECONDS = 2

/** Without end: the database may be down. */
const patiently = Schedule.spaced("500 millis")
