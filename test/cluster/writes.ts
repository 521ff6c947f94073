/** A log in the database of who wrote matches and ledgers, and who owned the stream then. Filled by triggers. */
import type { PlatformId } from "../../fixtures/languages.ts"
import type { Fleet } from "./fleet.ts"

/** In the order of writing. Rolled back writes are not in it. Times in milliseconds, of the database's clock. */
export interface Write {
  readonly at: number
  readonly platform: PlatformId
  /** The process, such as `server-1.2` for the second start of the first server. */
  readonly server: string
  /** Of `owners` at that moment; null without an owner. */
  readonly epoch: number | null
  readonly owner: string | null
  readonly table: "matches" | "streams" | "gaps"
  /** The number of the event of a match. */
  readonly event?: number
  /** Of a stream. */
  readonly watchedUntil?: number
}

/** From here on all writes are logged. The schema must be there. */
export const logWrites = async ({ sql }: Fleet): Promise<void> => {
  await sql(`
    create table test_writes (
      number bigint generated always as identity,
      at timestamptz not null default clock_timestamp(),
      server text not null default current_setting('application_name'),
      platform text not null,
      epoch bigint,
      owner text,
      written text not null,
      facts jsonb not null
    );
    create function test_log(platform text, written text, facts jsonb) returns void language plpgsql as $$
      declare
        owning record;
      begin
        -- Also works before there is such a table.
        if to_regclass('owners') is null then
          select null::bigint as epoch, null::text as server into owning;
        else
          execute 'select epoch, server::text from owners where name = $1' into owning using 'stream/' || platform;
        end if;
        insert into test_writes (platform, epoch, owner, written, facts)
        values (platform, owning.epoch, owning.server, written, facts);
      end $$;
    create function test_log_row() returns trigger language plpgsql as $$
      begin
        perform test_log(new.platform, tg_table_name, to_jsonb(new) - 'payload' || jsonb_build_object(
          'event', substring(to_jsonb(new) ->> 'payload' from 'event ([0-9]+)')
        ));
        return null;
      end $$;
    create trigger test_log after insert on matches for each row execute function test_log_row();
    create trigger test_log after insert or update on streams for each row execute function test_log_row();
    create trigger test_log after insert on gaps for each row execute function test_log_row();`)
}

export const readWrites = async ({ sql }: Fleet): Promise<ReadonlyArray<Write>> => {
  const rows = await sql<Row>("select * from test_writes order by number")
  return rows.map(({ at, epoch, written, facts, ...row }) => ({
    ...row,
    at: at.getTime(),
    epoch: epoch === null ? null : Number(epoch),
    table: written,
    ...(written === "matches" && { event: Number(facts["event"]) }),
    ...(written === "streams" && { watchedUntil: Date.parse(String(facts["watched_until"])) })
  }))
}

// ---- helpers ----

interface Row {
  readonly at: Date
  readonly server: string
  readonly platform: PlatformId
  readonly epoch: string | null
  readonly owner: string | null
  readonly written: Write["table"]
  readonly facts: Readonly<Record<string, unknown>>
}
