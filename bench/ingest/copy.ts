/** COPY, the fastest way into a table: over the wire on Postgres, from a file on PGlite. */
import type pg from "pg"

/** A row in COPY's text format: tab-separated, with escapes. */
export const copyLine = (columns: ReadonlyArray<string>): string =>
  `${columns.map((column) => column.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t")).join("\t")}\n`

/** The driver implements the messages of COPY, but has no command for it. */
export const copyIn = (client: pg.Client, table: string, text: Buffer): Promise<void> =>
  new Promise((resume, fail) => {
    client.query({
      submit: (connection: pg.Connection) => connection.query(`copy ${table} from stdin`),
      handleCopyInResponse: (connection: CopyConnection) => {
        for (let at = 0; at < text.length; at += MESSAGE_BYTES) {
          connection.sendCopyFromChunk(text.subarray(at, at + MESSAGE_BYTES))
        }
        connection.endCopyFrom()
      },
      handleCommandComplete: () => {},
      handleReadyForQuery: () => resume(),
      handleError: fail
    })
  })

// ---- helpers ----

const MESSAGE_BYTES = 65_536

/** Missing in the driver's types. */
interface CopyConnection {
  readonly sendCopyFromChunk: (chunk: Buffer) => void
  readonly endCopyFrom: () => void
}
