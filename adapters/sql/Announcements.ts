/** How processes on one database tell one another of new matches. */
import { Context, Effect, Layer, Redacted, Schedule, Stream } from "effect"
import pg from "pg"

export const CHANNEL = "earshot_matches"

export class Announcements extends Context.Tag("adapters/sql/Announcements")<
  Announcements,
  {
    /** What this process announces as; its own are not heard. */
    readonly self: string
    /** Once for each announcement of another process, and once whenever some may have been missed. */
    readonly heard: Stream.Stream<void>
  }
>() {
  /** For a store that has no other process. */
  static readonly layerAlone: Layer.Layer<Announcements> = Layer.succeed(
    Announcements,
    Announcements.of({ self: "", heard: Stream.never })
  )

  /** Listens on a connection of its own, which is made anew whenever it is lost. */
  static readonly layerListening = (url: Redacted.Redacted): Layer.Layer<Announcements> =>
    Layer.sync(Announcements, () => {
      const self = crypto.randomUUID()
      return Announcements.of({ self, heard: Stream.retry(listen(url, self), MANNERS).pipe(Stream.orDie) })
    })
}

// ---- helpers ----

/** For ever. */
const MANNERS = Schedule.union(Schedule.exponential("100 millis"), Schedule.spaced("2 seconds"))

/** Ends with its connection: not sql-pg's `listen`, which falls silent. */
const listen = (url: Redacted.Redacted, self: string): Stream.Stream<void, unknown> =>
  Stream.asyncPush<void, unknown>(
    (emit) =>
      Effect.acquireRelease(
        Effect.tryPromise(async () => {
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
          await client.query(`listen ${CHANNEL}`)
          // What was announced before is not told again.
          emit.single(undefined)
          return client
        }),
        (client) => Effect.promise(() => client.removeAllListeners("end").end())
      ),
    { bufferSize: 1, strategy: "sliding" }
  )
