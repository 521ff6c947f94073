/** `earshot store copy`: copies the embedded store to a Postgres database. */
import { Command, HelpDoc, Options } from "@effect/cli"
import { Clock, Console, Effect, Option } from "effect"
import { count, duration, plural, progressBar, type Screen } from "./progress.ts"
import { jsonOption, printJson } from "./remote.ts"
import { aligned } from "./table.ts"

export interface StoreActions<E> {
  /** `to`: the URL of the database; none for DATABASE_URL. */
  readonly copy: (options: {
    readonly to: Option.Option<string>
    readonly report: (progress: CopyProgress) => Effect.Effect<void>
  }) => Effect.Effect<Copied, E>
  /** Standard error, if it is a terminal. */
  readonly screen: Option.Option<Screen>
}

export interface CopyProgress {
  readonly phase: "copying" | "verifying"
  /** `restarted`: the store has changed since the copy was begun. */
  readonly begun: "new" | "resumed" | "restarted"
  readonly rows: number
  readonly doneBytes: number
  readonly totalBytes: number
}

export interface Copied {
  /** The folder. */
  readonly from: string
  /** Without a password. */
  readonly to: string
  readonly begun: CopyProgress["begun"]
  readonly tables: ReadonlyArray<{ readonly name: string; readonly rows: number; readonly digest: string }>
}

export const storeCommand = <E>(actions: StoreActions<E>) =>
  Command.make("store").pipe(
    Command.withDescription("Move the embedded store to Postgres"),
    Command.withSubcommands([copyCommand(actions)])
  )

// ---- helpers ----

const copyCommand = <E>(actions: StoreActions<E>) =>
  Command.make(
    "copy",
    {
      to: Options.text("to").pipe(
        Options.withPseudoName("url"),
        Options.withDescription(
          "URL of an empty Postgres database (default: DATABASE_URL, which keeps a password out of the list of processes)"
        ),
        Options.optional
      ),
      json: jsonOption("Print the tables, with their rows and digests, as JSON")
    },
    (options) => copy(actions, options)
  ).pipe(
    Command.withDescription(
      HelpDoc.blocks([
        HelpDoc.p("Copy everything in the embedded store (EARSHOT_DATA_DIR) to an empty Postgres database."),
        HelpDoc.p(
          "Stop the server first. The store is only read. If the copy is interrupted, the same command resumes it; until it is complete, no server starts on the database. At the end, the rows and a digest of each table are compared."
        ),
        HelpDoc.p("API keys, cursors, webhooks and sign-ins work as before on a server with that DATABASE_URL.")
      ])
    )
  )

const copy = <E>(
  { copy: copyTo, screen }: StoreActions<E>,
  { to, json }: { readonly to: Option.Option<string>; readonly json: boolean }
) =>
  Effect.gen(function* () {
    const start = yield* Clock.currentTimeMillis
    const secondsSince = (since: number) => Effect.map(Clock.currentTimeMillis, (now) => (now - since) / 1000)
    let current: (CopyProgress & { readonly since: number }) | undefined
    const shown = Effect.suspend(() =>
      Effect.map(secondsSince(current?.since ?? start), (seconds) => ({
        doneBytes: current?.doneBytes ?? 0,
        totalBytes: Option.fromNullable(current?.totalBytes),
        events: current?.rows ?? 0,
        counted: "row",
        matches: undefined,
        seconds
      }))
    )

    const copied = yield* Effect.gen(function* () {
      const bar = yield* progressBar(screen, shown)
      const report = (progress: CopyProgress) =>
        Effect.gen(function* () {
          const isNew = current?.phase !== progress.phase
          current = { ...progress, since: isNew ? yield* Clock.currentTimeMillis : (current?.since ?? start) }
          if (isNew)
            yield* bar.print(progress.phase === "verifying" ? "Comparing the copy" : beginnings[progress.begun])
        })
      return yield* copyTo({ to, report })
    }).pipe(
      Effect.scoped,
      Effect.onInterrupt(() => Console.error("Stopped. Run the command again to resume the copy"))
    )

    const seconds = yield* secondsSince(start)
    if (json) return yield* printJson({ ...copied, rows: rowsOf(copied), seconds })
    yield* Console.log(summary(copied, seconds))
  })

const beginnings = {
  new: "Copying",
  resumed: "Resuming the copy",
  restarted: "The store has changed since the copy was begun: copying it from the start"
}

const rowsOf = ({ tables }: Copied): number => tables.reduce((sum, { rows }) => sum + rows, 0)

const summary = (copied: Copied, seconds: number): string => {
  const { from, to, tables } = copied
  const rows = tables.filter((table) => table.rows > 0).map((table) => [table.name, count(table.rows)])
  return [
    aligned([["TABLE", "ROWS"], ...rows]),
    "",
    `Copied ${plural(tables.length, "table")} with ${plural(rowsOf(copied), "row")} to ${to} in ${duration(seconds)}; both sides have the same rows.`,
    "Next, start the server with DATABASE_URL set to this database and all other settings as before: earshot serve",
    "API keys, cursors, webhooks with their secrets, and sign-ins are in the database and work as before.",
    `Start no server on ${from} any more: it would work against the new one. Keep the folder as a backup.`
  ].join("\n")
}
