/** LISTEN/NOTIFY between processes on one database: announces new matches, and rules to be registered. */
import type { SqlClient } from "@effect/sql/SqlClient"
import { Context, Effect, Layer, Option, Redacted, Schedule, Stream } from "effect"
import pg from "pg"

export const CHANNEL = "earshot_matches"
export const RULES_CHANNEL = "earshot_rules"

export class Announcements extends Context.Tag("adapters/sql/Announcements")<
  Announcements,
  {
    /** Sender id of this process. Its own announcements are ignored. */
    readonly self: string
    /** Emits on each announcement of another process, and after each connect, as some may have been missed. */
    readonly received: Stream.Stream<void>
    /** Emits on each announcement of any process about rules, and after each connect. */
    readonly rulesChanged: Stream.Stream<void>
  }
>() {
  /** For a store that only one process uses. */
  static readonly layerSingle: Layer.Layer<Announcements> = Layer.succeed(
    Announcements,
    Announcements.of({ self: "", received: Stream.never, rulesChanged: Stream.never })
  )

  /** Listens on connections of its own and reconnects when one is lost. */
  static readonly layerListening = (url: Redacted.Redacted): Layer.Layer<Announcements> =>
    Layer.sync(Announcements, () => {
      const self = crypto.randomUUID()
      const on = (channel: string) => Stream.retry(listen(url, { channel, self }), backoff).pipe(Stream.orDie)
      return Announcements.of({ self, received: on(CHANNEL), rulesChanged: on(RULES_CHANNEL) })
    })
}

/** Whether an announcement by `sql` reaches a listener within five seconds. Not behind a pooler in transaction mode. */
export const canListen = (url: Redacted.Redacted, sql: SqlClient): Effect.Effect<boolean, unknown> => {
  const announce = sql`select pg_notify(${TEST_CHANNEL}, 'test')`
  const heard = listen(url, { channel: TEST_CHANNEL, self: "" }).pipe(
    Stream.zipWithIndex,
    // The first one says that the connection listens.
    Stream.tap(([, index]) => Effect.when(announce, () => index === 0)),
    Stream.drop(1),
    Stream.runHead
  )
  // A busy server takes seconds.
  return Effect.timeoutTo(Effect.disconnect(heard), {
    duration: "15 seconds",
    onSuccess: Option.isSome,
    onTimeout: () => false
  })
}

// ---- helpers ----

const TEST_CHANNEL = "earshot_test"

/** Never ends. */
const backoff = Schedule.union(Schedule.exponential("100 millis"), Schedule.spaced("2 seconds"))

/** Fails when its connection ends. sql-pg's `listen` does not. */
const listen = (
  url: Redacted.Redacted,
  { channel, self }: { readonly channel: string; readonly self: string }
): Stream.Stream<void, unknown> =>
  Stream.asyncPush<void, unknown>(
    (emit) =>
      Effect.acquireRelease(
        Effect.tryPromise({
          try: async () => {
            const client = new pg.Client({
              connectionString: Redacted.value(url),
              application_name: "earshot",
              keepAlive: true
            })
            client.on("error", (cause) => emit.fail(cause))
            client.on("end", () => emit.fail("The connection was closed"))
            client.on("notification", ({ payload }) => {
              if (payload !== self) emit.single(undefined)
            })
            await client.connect()
            await client.query(`listen ${channel}`)
            // Announcements from before `listen` are lost.
            emit.single(undefined)
            return client
          },
          catch: (cause) => cause
        }),
        (client) => Effect.promise(() => client.removeAllListeners("end").end())
      ),
    { bufferSize: 1, strategy: "sliding" }
  )
