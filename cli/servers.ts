/** `earshot servers`: lists the servers on one Postgres. */
import { Command } from "@effect/cli"
import { Console, Effect } from "effect"
import { Servers } from "../core/ownership/Servers.ts"
import { jsonOption, printJson } from "./remote.ts"
import { aligned } from "./table.ts"
import { visible } from "./terminal.ts"

export interface ServersActions<E> {
  /** Runs an effect on the database that the servers share. */
  readonly withServers: <A, E2>(effect: Effect.Effect<A, E2>) => Effect.Effect<A, E | E2>
}

export const serversCommand = <E>({ withServers }: ServersActions<E>) =>
  Command.make("servers", { json: jsonOption("Print the servers as JSON") }, ({ json }) =>
    withServers(
      Effect.gen(function* () {
        const servers = yield* (yield* Servers).list
        if (json) return yield* printJson({ servers })
        if (servers.length === 0) return yield* Console.error("No server is running on this database")
        const rows = servers.map(({ name, version, started_at, owns }) => [
          visible(name),
          version,
          started_at,
          owns.join(", ")
        ])
        yield* Console.log(aligned([["SERVER", "VERSION", "STARTED", "OWNS"], ...rows]))
      })
    )
  ).pipe(Command.withDescription("List the servers that run on DATABASE_URL, and the work that each one owns."))
