/** Schema migrations. Never change a released migration: add a new one. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect } from "effect"

export const migrations = {
  "0001_accounts_rules_matches": Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`create table accounts (
      id uuid primary key,
      name text not null unique,
      created_at timestamptz(3) not null
    )`
    yield* sql`create table keys (
      id uuid primary key,
      account_id uuid not null references accounts on delete cascade,
      name text not null,
      hint text not null,
      digest text not null unique,
      created_at timestamptz(3) not null,
      last_used_at timestamptz(3),
      revoked_at timestamptz(3)
    )`

    yield* sql`create table rules (
      id uuid primary key,
      account_id uuid not null references accounts on delete cascade,
      name text not null,
      intent text not null,
      created_at timestamptz(3) not null
    )`
    yield* sql`create index rules_of_account on rules (account_id, id desc)`

    // `account_id` is duplicated here so that a limit check counts in one index.
    yield* sql`create table registrations (
      rule_id uuid not null references rules on delete cascade,
      platform text not null,
      account_id uuid not null,
      text text not null,
      platform_rule_id text,
      translated_value text not null,
      state text not null check (state in ('pending', 'active', 'removing')),
      since timestamptz(3) not null,
      primary key (rule_id, platform)
    )`
    yield* sql`create index registrations_of_account on registrations (account_id, platform)`
    yield* sql`create index registrations_by_platform_rule on registrations (platform, platform_rule_id)`
    // A filter text can exceed the size limit of a b-tree entry.
    yield* sql`create index registrations_by_text on registrations using hash (text)`
    // Almost always empty, so the check for hidden rules is cheap.
    yield* sql`create index registrations_not_active on registrations (rule_id) where state <> 'active'`

    yield* sql`create table matches (
      id uuid primary key,
      rule_id uuid not null references rules on delete cascade,
      account_id uuid not null,
      platform text not null,
      platform_post_id text not null,
      payload jsonb not null,
      created_at timestamptz(3) not null
    )`
    // An id too long for a b-tree is indexed by its digest: platforms choose the ids.
    yield* sql`create unique index matches_once on matches (
      rule_id,
      platform,
      (case when octet_length(platform_post_id) <= 200 then platform_post_id else md5(platform_post_id) end)
    )`
    yield* sql`create index matches_of_rule on matches (rule_id, platform, id desc)`
    yield* sql`create index matches_of_account on matches (account_id, platform, id desc)`
  }),

  "0002_recent_events": Effect.gen(function* () {
    const sql = yield* SqlClient
    // Totals ever logged per platform. The row lock serializes appends.
    yield* sql`create table event_logs (
      platform text primary key,
      events bigint not null,
      size bigint not null
    )`
    // A segment's key is its end, in events and in characters since the log began: reads and deletes are then ranges
    // of one index.
    yield* sql`create table event_segments (
      platform text not null,
      last_event bigint not null,
      last_size bigint not null,
      events integer not null,
      size integer not null,
      missed integer not null,
      lines text not null,
      primary key (platform, last_event)
    )`
    // Not compressed: on the embedded store that would double the write time of short-lived data.
    yield* sql`alter table event_segments alter column lines set storage external`
  }),

  "0003_real_platforms": Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`create table deployment (id uuid not null)`
    yield* sql`insert into deployment (id) values (gen_random_uuid())`
    yield* sql`create table streams (platform text primary key, cursor text not null)`
    yield* sql`alter table registrations add column reason text`
    yield* sql`alter table registrations drop constraint registrations_state_check`
    yield* sql`alter table registrations add constraint registrations_state_check
      check (state in ('pending', 'active', 'removing', 'failed'))`
    yield* sql`drop index registrations_not_active`
    yield* sql`create index registrations_hidden on registrations (rule_id) where state in ('pending', 'removing')`
  }),

  "0004_coverage": Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`alter table streams
      alter column cursor drop not null,
      add column watched_since timestamptz(3),
      add column watched_until timestamptz(3) not null default now(),
      add column blind_since timestamptz(3),
      add column blind_cause text,
      add column blind_detail text`
    yield* sql`create table gaps (
      platform text not null,
      started_at timestamptz(3) not null,
      ended_at timestamptz(3) not null,
      cause text not null,
      detail text not null,
      recovered boolean not null
    )`
    yield* sql`create index gaps_by_time on gaps (platform, started_at desc)`
    yield* sql`create table set_aside (
      id bigint generated always as identity primary key,
      platform text not null,
      platform_post_id text not null,
      at timestamptz(3) not null,
      reason text not null,
      payload text not null
    )`
  }),

  "0005_retention": Effect.gen(function* () {
    const sql = yield* SqlClient
    // All matches up to `floor` are deleted, and none is before `oldest`. Searches start at `oldest`: from the start of
    // the index they would read all entries deleted since the last vacuum.
    yield* sql`create table retention (floor uuid not null, oldest uuid not null)`
    yield* sql`insert into retention values (
      '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'
    )`
    // The number of matches is the sum. Split into parts so that concurrent writers do not block each other.
    yield* sql`create table match_counts (part integer primary key, matches bigint not null)`
    // Triggers, because matches are also deleted with their rule, or by an operator.
    yield* sql`create function matches_changed() returns trigger language plpgsql as $$
      begin
        if tg_op = 'TRUNCATE' then
          delete from match_counts;
          return null;
        end if;
        -- A match can come in late, from a process whose clock is behind.
        if tg_op = 'INSERT' then
          update retention set oldest = first.id from (select id from changed order by id limit 1) first
          where first.id < oldest;
        end if;
        insert into match_counts as c (part, matches)
        select pg_backend_pid() % 64, case tg_op when 'INSERT' then count(*) else -count(*) end
        from changed having count(*) > 0
        on conflict (part) do update set matches = c.matches + excluded.matches;
        return null;
      end $$`
    yield* sql`create trigger matches_inserted after insert on matches
      referencing new table as changed for each statement execute function matches_changed()`
    yield* sql`create trigger matches_deleted after delete on matches
      referencing old table as changed for each statement execute function matches_changed()`
    yield* sql`create trigger matches_truncated after truncate on matches
      for each statement execute function matches_changed()`
    yield* sql`insert into match_counts (part, matches) select 0, count(*) from matches`
  }),

  "0006_order_of_matches": Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`create table match_order (newest uuid not null)`
    yield* sql`insert into match_order select coalesce(
      (select id from matches order by id desc limit 1), '00000000-0000-0000-0000-000000000000'
    )`
    // Serializes the writers of matches until their transaction ends: ids then become visible in order.
    yield* sql`create function take_turn(first uuid, last uuid) returns void language plpgsql as $$
      declare
        reached uuid;
      begin
        update match_order set newest = last where newest < first;
        if not found then
          select newest into reached from match_order;
          raise exception 'A newer match is stored already' using errcode = 'ES001', detail = reached;
        end if;
      end $$`
    // `take_turn` rejects late matches, so `oldest` never moves back.
    yield* sql`create or replace function matches_changed() returns trigger language plpgsql as $$
      begin
        if tg_op = 'TRUNCATE' then
          delete from match_counts;
          return null;
        end if;
        insert into match_counts as c (part, matches)
        select pg_backend_pid() % 64, case tg_op when 'INSERT' then count(*) else -count(*) end
        from changed having count(*) > 0
        on conflict (part) do update set matches = c.matches + excluded.matches;
        return null;
      end $$`
  }),

  "0007_webhooks": Effect.gen(function* () {
    const sql = yield* SqlClient
    // A webhook still has to deliver the matches after its cursor. One worker at a time holds it, by a claim that
    // expires. Every delivery updates its row: free space on the page keeps that a HOT update, without index writes.
    yield* sql`create table webhooks (
      id uuid primary key,
      account_id uuid not null references accounts on delete cascade,
      url text not null,
      description text,
      rule_ids uuid[],
      platforms text[],
      secret text not null,
      previous_secret text,
      previous_secret_until timestamptz(3),
      created_at timestamptz(3) not null,
      cursor uuid not null,
      failures integer not null default 0,
      next_attempt_at timestamptz(3),
      disabled_reason text,
      claim uuid,
      claimed_until timestamptz
    ) with (fillfactor = 50)`
    yield* sql`create index webhooks_of_account on webhooks (account_id, id desc)`
    yield* sql`create table webhook_attempts (
      id uuid primary key,
      webhook_id uuid not null references webhooks on delete cascade,
      at timestamptz(3) not null,
      kind text not null,
      match_id uuid,
      outcome text not null,
      status integer,
      duration_ms integer not null,
      error text,
      response text
    )`
    yield* sql`create index attempts_of_webhook on webhook_attempts (webhook_id, id desc)`
  }),

  "0008_key_scopes": Effect.gen(function* () {
    const sql = yield* SqlClient
    // Earlier keys could do everything.
    yield* sql`alter table keys
      add column scope text not null default 'admin' check (scope in ('read', 'write', 'admin')),
      add column expires_at timestamptz(3),
      add column previous_digest text unique,
      add column previous_secret_until timestamptz(3)`
    yield* sql`alter table keys alter column scope drop default`
    yield* sql`create index keys_of_account on keys (account_id, id)`
  }),

  "0009_usage_of_accounts": Effect.gen(function* () {
    const sql = yield* SqlClient
    // The size of the payload as JSON. An average for older matches: a constant does not rewrite the table.
    const [old] = yield* sql<{ readonly bytes: number }>`
      select coalesce(avg(pg_column_size(payload)), 0)::int as bytes from matches`
    yield* sql`alter table matches add column bytes integer not null default ${sql.literal(String(old?.bytes ?? 0))}`
    yield* sql`alter table matches alter column bytes drop default`
    // The usage of an account is the sum of its parts: 0 for inserts, which take turns anyway, and one per backend for
    // deletes, so that they block neither inserts nor each other. Free space on the page keeps updates HOT.
    yield* sql`create table account_usage (
      account_id uuid not null,
      part integer not null,
      matches bigint not null,
      bytes bigint not null,
      primary key (account_id, part)
    ) with (fillfactor = 50)`
    yield* sql`insert into account_usage
      select account_id, 0, count(*), sum(bytes) from matches group by account_id`
    // All matches of the account up to `floor` are deleted.
    yield* sql`create table account_floors (account_id uuid primary key, floor uuid not null)`
    yield* sql`create or replace function matches_changed() returns trigger language plpgsql as $$
      begin
        if tg_op = 'TRUNCATE' then
          delete from account_usage;
          return null;
        end if;
        insert into account_usage as u (account_id, part, matches, bytes)
        select account_id, part, sign * count(*), sign * sum(bytes) from changed, (
          select case tg_op when 'INSERT' then 0 else 1 + pg_backend_pid() % 64 end as part,
            case tg_op when 'INSERT' then 1 else -1 end as sign
        ) change
        -- In one order, so that two deletes cannot deadlock.
        group by account_id, part, sign order by account_id
        on conflict (account_id, part) do update
          set matches = u.matches + excluded.matches, bytes = u.bytes + excluded.bytes;
        return null;
      end $$`
    yield* sql`drop table match_counts`
  }),

  "0010_limits_of_accounts": Effect.gen(function* () {
    const sql = yield* SqlClient
    // Limits that the operator set. Others have their defaults.
    yield* sql`create table account_limits (
      account_id uuid not null references accounts on delete cascade,
      name text not null,
      value bigint not null,
      primary key (account_id, name)
    )`
    // What each server counted in a minute. Unlogged: after a crash the counters start again.
    yield* sql`create unlogged table account_counts (
      account_id uuid not null,
      name text not null,
      minute integer not null,
      server uuid not null,
      used double precision not null,
      primary key (account_id, name, minute, server)
    )`
  }),

  "0011_redactions": Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`alter table matches add column redacted_at timestamptz(3), add column redacted_reason text`
    // The same key in another order: it also finds the matches of a post.
    yield* sql`drop index matches_once`
    yield* sql`create unique index matches_once on matches (
      platform,
      (case when octet_length(platform_post_id) <= 200 then platform_post_id else md5(platform_post_id) end),
      rule_id
    )`
    yield* sql`create index set_aside_by_post on set_aside (
      platform,
      (case when octet_length(platform_post_id) <= 200 then platform_post_id else md5(platform_post_id) end)
    )`
    // One per redacted match, with ids in the order of matches: readers get both from one cursor. It outlives the match.
    yield* sql`create table redactions (
      id uuid primary key,
      match_id uuid not null,
      rule_id uuid not null references rules on delete cascade,
      account_id uuid not null,
      platform text not null,
      platform_post_id text not null,
      created_at timestamptz(3) not null,
      redacted_at timestamptz(3) not null,
      redacted_reason text not null
    )`
    yield* sql`create index redactions_of_rule on redactions (rule_id, platform, id)`
    yield* sql`create index redactions_of_account on redactions (account_id, platform, id)`
    // The present or last round of looking up stored posts, per platform.
    yield* sql`create table lookup_rounds (
      platform text primary key,
      started_at timestamptz(3),
      up_to uuid,
      place uuid,
      claim uuid,
      claimed_until timestamptz(3)
    )`
  }),

  "0012_coverage_of_rules": Effect.gen(function* () {
    const sql = yield* SqlClient
    // When the platform first held the rule.
    yield* sql`alter table registrations add column watched_since timestamptz(3)`
    yield* sql`update registrations g set watched_since = r.created_at from rules r
      where r.id = g.rule_id and g.state in ('active', 'failed')`
    yield* sql`drop index registrations_of_account`
    yield* sql`create index registrations_of_account on registrations (account_id, platform, rule_id)`
    // When a platform did not hold a rule. `account_id` is duplicated here so that a list reads one index.
    yield* sql`create table rule_gaps (
      rule_id uuid not null references rules on delete cascade,
      platform text not null,
      account_id uuid not null,
      started_at timestamptz(3) not null,
      ended_at timestamptz(3),
      cause text not null,
      detail text not null
    )`
    yield* sql`create unique index rule_gaps_open on rule_gaps (rule_id, platform) where ended_at is null`
    yield* sql`create index rule_gaps_of_rule on rule_gaps (rule_id, started_at desc)`
    yield* sql`create index rule_gaps_of_account on rule_gaps (account_id, started_at desc)`
    yield* sql`insert into rule_gaps (rule_id, platform, account_id, started_at, cause, detail)
      select rule_id, platform, account_id, since, 'rule_failed', coalesce(reason, '') from registrations
      where state = 'failed'`
    // When the rules of a platform were last compared with the store.
    yield* sql`create table comparisons (platform text primary key, at timestamptz(3) not null)`
    // A period in which events may be missing, without proof.
    yield* sql`alter table gaps add column suspected boolean not null default false`
  }),

  "0013_budgets": Effect.gen(function* () {
    const sql = yield* SqlClient
    // Set for a rule that is paused because the budget is nearly used up.
    yield* sql`alter table registrations add column paused_until timestamptz(3), add column paused_budget bigint`
    // Posts received. period: a month or an hour in UTC. subject: the id of a rule or an account, or all.
    yield* sql`create table post_counts (
      platform text not null,
      period text not null,
      subject text not null,
      posts bigint not null,
      primary key (platform, period, subject)
    )`
  }),

  "0014_webhook_events": Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`alter table webhooks add column events text[] not null default '{match,match.redacted}'`
    // The gaps that the receiver knows of, as it knows them.
    yield* sql`alter table webhooks add column announced_gaps jsonb not null default '[]'`
  }),

  "0015_servers": Effect.gen(function* () {
    const sql = yield* SqlClient
    // The tables of @effect/cluster: created here, because servers that start together would do it at the same time.
    yield* sql`create table earshot_runners (
      machine_id serial primary key,
      address varchar(255) not null unique,
      runner text not null,
      healthy boolean not null default true,
      last_heartbeat timestamp not null default now()
    )`
    yield* sql`create table earshot_locks (
      shard_id varchar(50) primary key,
      address varchar(255) not null,
      acquired_at timestamp not null
    )`
    yield* sql`create table servers (
      id uuid primary key,
      name text not null,
      version text not null,
      started_at timestamptz(3) not null
    )`
    yield* sql`create table owners (
      name text primary key,
      epoch bigint not null,
      server uuid not null,
      since timestamptz(3) not null
    )`
    // The shared lock makes the next owner wait for the transactions of the one before.
    yield* sql`create function check_owner(work text, expected bigint) returns void language plpgsql as $$
      begin
        perform from owners where name = work and epoch = expected for share;
        if not found then
          raise exception 'Another server is the owner now' using errcode = 'ES002';
        end if;
      end $$`
    // What the owner of a stream last said of it.
    yield* sql`create table stream_reports (
      platform text primary key,
      report jsonb not null,
      at timestamptz(3) not null default now()
    )`
    // The answer of the platform, until the server that asked has read it.
    yield* sql`alter table registrations add column outcome jsonb`
    yield* sql`create index registrations_unsettled on registrations (platform) where state in ('pending', 'removing')`
    // Counts the activations on a platform, in the order in which they become visible.
    yield* sql`create table rule_versions (platform text primary key, version bigint not null)`
    yield* sql`alter table registrations add column version bigint not null default 0`
    yield* sql`create index registrations_by_version on registrations (platform, version)`
  }),

  "0016_earlier_platform_rules": Effect.gen(function* () {
    const sql = yield* SqlClient
    // The id that the rule had on the platform before the gap: events from before it have that id.
    yield* sql`alter table rule_gaps add column platform_rule_id text`
    yield* sql`update rule_gaps g set platform_rule_id = r.platform_rule_id from registrations r
      where g.ended_at is null and r.rule_id = g.rule_id and r.platform = g.platform`
    yield* sql`create index rule_gaps_by_platform_rule on rule_gaps (platform, platform_rule_id)`
  }),

  "0017_versions_of_rules": Effect.gen(function* () {
    const sql = yield* SqlClient
    // A candidate is a rule that is to replace the filters of another one, or to be compared with it. It is never listed.
    yield* sql`alter table rules add column version integer not null default 1,
      add column candidate_of uuid references rules on delete cascade, add column purpose text`
    yield* sql`create index rules_candidates on rules (candidate_of) where candidate_of is not null`
    yield* sql`alter table registrations drop constraint registrations_state_check`
    yield* sql`alter table registrations add constraint registrations_state_check
      check (state in ('pending', 'active', 'removing', 'failed', 'paused'))`
    yield* sql`create table rule_changes (
      rule_id uuid not null references rules on delete cascade,
      version integer not null,
      at timestamptz(3) not null,
      key_id uuid,
      name text not null,
      intent text not null,
      overrides jsonb not null,
      paused boolean not null,
      primary key (rule_id, version)
    )`
    yield* sql`insert into rule_changes
      select r.id, 1, r.created_at, null, r.name, r.intent, g.overrides, false
      from rules r cross join lateral (
        select coalesce(jsonb_object_agg(platform, text), '{}') as overrides from registrations where rule_id = r.id
      ) g`
    // The rule that a platform held for an earlier version. Events from before the change have its id.
    yield* sql`create table retired_rules (
      platform text not null,
      platform_rule_id text not null,
      rule_id uuid not null references rules on delete cascade,
      account_id uuid not null,
      version integer not null,
      retired_at timestamptz(3) not null
    )`
    yield* sql`create index retired_rules_by_platform_rule on retired_rules (platform, platform_rule_id)`
    yield* sql`create index retired_rules_of_rule on retired_rules (rule_id)`
    yield* sql`create index retired_rules_by_age on retired_rules (retired_at)`
    yield* sql`alter table matches add column rule_version integer not null default 1,
      add column reapplied boolean not null default false`
    yield* sql`alter table redactions add column rule_version integer not null default 1`
    // What the candidates matched. `rule_id` is the candidate.
    yield* sql`create table shadow_matches (
      rule_id uuid not null references rules on delete cascade,
      platform text not null,
      platform_post_id text not null,
      payload jsonb not null,
      created_at timestamptz(3) not null
    )`
    yield* sql`create unique index shadow_matches_once on shadow_matches (
      platform,
      (case when octet_length(platform_post_id) <= 200 then platform_post_id else md5(platform_post_id) end),
      rule_id
    )`
    yield* sql`create index shadow_matches_by_age on shadow_matches (rule_id, created_at)`
  }),

  "0018_idempotency": Effect.gen(function* () {
    const sql = yield* SqlClient
    // digest: of account, operation and key. answer: encrypted with the key, which is not stored; null while it runs.
    yield* sql`create table idempotency_keys (
      digest text primary key,
      request text not null,
      attempt uuid not null,
      created_at timestamptz(3) not null,
      renewed_at timestamptz(3) not null,
      answer text
    )`
    yield* sql`create index idempotency_keys_by_age on idempotency_keys (created_at)`
  }),

  "0019_replays": Effect.gen(function* () {
    const sql = yield* SqlClient
    // The platform replays its events since then, and not all of them are stored.
    yield* sql`alter table streams add column replaying_since timestamptz(3)`
  }),

  "0020_counts_of_matches": Effect.gen(function* () {
    const sql = yield* SqlClient
    // The stored matches of a rule that were created in an hour since 1970, and in each of its minutes: from the first
    // to the last minute that had one. Free space on the page keeps updates HOT.
    yield* sql`create table match_counts (
      rule_id uuid not null,
      platform text not null,
      hour integer not null,
      matches bigint not null,
      minutes integer[] not null,
      primary key (rule_id, platform, hour)
    ) with (fillfactor = 50)`
    yield* sql`create function count_minute(minutes integer[], minute integer) returns integer[]
      language plpgsql immutable as $$
      begin
        minutes[minute] := coalesce(minutes[minute], 0) + 1;
        return minutes;
      end $$`
    yield* sql`create aggregate minute_counts(integer) (sfunc = count_minute, stype = integer[], initcond = '{}')`
    yield* sql`create function add_minutes(minutes integer[], added integer[], sign integer) returns integer[]
      language plpgsql immutable as $$
      begin
        for minute in array_lower(added, 1)..array_upper(added, 1) loop
          if added[minute] > 0 then
            minutes[minute] := coalesce(minutes[minute], 0) + sign * added[minute];
          end if;
        end loop;
        return minutes;
      end $$`
    yield* sql`create function minute_of(at timestamptz) returns integer language sql stable
      return floor(extract(epoch from at) / 60)::int`
    // No insert or delete may come between the first count and the trigger.
    yield* sql`lock table matches in share row exclusive mode`
    yield* sql`insert into match_counts
      select rule_id, platform, minute / 60, count(*), minute_counts(minute % 60)
      from (select rule_id, platform, minute_of(created_at) as minute from matches) m
      group by rule_id, platform, minute / 60`
    yield* sql`create or replace function matches_changed() returns trigger language plpgsql as $$
      begin
        if tg_op = 'TRUNCATE' then
          delete from account_usage;
          delete from match_counts;
          return null;
        end if;
        insert into account_usage as u (account_id, part, matches, bytes)
        select account_id, part, sign * count(*), sign * sum(bytes) from changed, (
          select case tg_op when 'INSERT' then 0 else 1 + pg_backend_pid() % 64 end as part,
            case tg_op when 'INSERT' then 1 else -1 end as sign
        ) change
        -- In one order, so that two deletes cannot deadlock.
        group by account_id, part, sign order by account_id
        on conflict (account_id, part) do update
          set matches = u.matches + excluded.matches, bytes = u.bytes + excluded.bytes;
        if tg_op = 'INSERT' then
          insert into match_counts as c (rule_id, platform, hour, matches, minutes)
          select rule_id, platform, minute / 60 as hour, count(*), minute_counts(minute % 60)
          from (select rule_id, platform, minute_of(created_at) as minute from changed) m
          group by rule_id, platform, hour order by rule_id, platform, hour
          on conflict (rule_id, platform, hour) do update set matches = c.matches + excluded.matches,
            minutes = add_minutes(c.minutes, excluded.minutes, 1);
          return null;
        end if;
        with gone as materialized (
          select rule_id, platform, minute / 60 as hour, count(*) as matches, minute_counts(minute % 60) as minutes
          from (select rule_id, platform, minute_of(created_at) as minute from changed) m
          group by rule_id, platform, hour
        ), locked as materialized (
          -- In the order of inserts.
          select c.rule_id, c.platform, c.hour, c.matches = g.matches as is_last, g.matches, g.minutes
          from match_counts c join gone g using (rule_id, platform, hour)
          order by c.rule_id, c.platform, c.hour for update of c
        ), emptied as (
          delete from match_counts c using locked l
          where l.is_last and (c.rule_id, c.platform, c.hour) = (l.rule_id, l.platform, l.hour)
        )
        update match_counts c set matches = c.matches - l.matches, minutes = add_minutes(c.minutes, l.minutes, -1)
        from locked l
        where not l.is_last and (c.rule_id, c.platform, c.hour) = (l.rule_id, l.platform, l.hour);
        return null;
      end $$`
  }),

  "0021_batches": Effect.gen(function* () {
    const sql = yield* SqlClient
    // The number of the last stored batch.
    yield* sql`alter table streams add column batch bigint not null default 0`
    // Called after `take_turn`, which waits for the batches that are being stored.
    yield* sql`create function check_batch(stream text, next bigint) returns void language plpgsql as $$
      begin
        if next - 1 > coalesce((select batch from streams where platform = stream), 0) then
          raise exception 'An earlier batch is not stored yet' using errcode = 'ES003';
        end if;
      end $$`
  }),

  "0022_pauses_for_matching": Effect.gen(function* () {
    const sql = yield* SqlClient
    // Null: the budget. `paused_budget` is then the limit of this cause.
    yield* sql`alter table registrations add column paused_cause text`
    yield* sql`create index registrations_paused on registrations (platform) where paused_until is not null`
  }),

  "0023_generations": Effect.gen(function* () {
    const sql = yield* SqlClient
    // The server processes that registered rules, each with the number of its last registration.
    yield* sql`create table generations (id text primary key, last bigint not null)`
  }),

  "0024_retired_rules_of_account": Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`create index retired_rules_of_account on retired_rules (account_id, platform)`
  }),

  "0025_indexes_for_pages": Effect.gen(function* () {
    const sql = yield* SqlClient
    // Before a table was analyzed, the planner would read all rules of a platform and sort them for each page.
    yield* sql`create index registrations_in_order on registrations (platform, rule_id)`
    yield* sql`create index rule_gaps_of_account_but_pending on rule_gaps (account_id, started_at desc)
      where cause <> 'rule_pending'`
  }),

  "0026_grants": Effect.gen(function* () {
    const sql = yield* SqlClient
    // `generation` is the number of the last refresh tokens, 0 before the first; they replaced others at `rotated_at`.
    yield* sql`create table grants (
      id uuid primary key,
      account_id uuid not null references accounts,
      key_id uuid not null references keys,
      client_id text not null,
      client_name text not null,
      redirect_host text not null,
      scope text not null,
      resource text not null,
      code_digest text not null unique,
      redirect_uri text not null,
      challenge text not null,
      code_expires_at timestamptz(3) not null,
      created_at timestamptz(3) not null,
      last_used_at timestamptz(3),
      expires_at timestamptz(3) not null,
      generation integer not null default 0,
      rotated_at timestamptz(3),
      ended_at timestamptz(3),
      ended_by text
    )`
    yield* sql`create index grants_of_account on grants (account_id, id)`
    yield* sql`create table grant_tokens (
      digest text primary key,
      grant_id uuid not null references grants on delete cascade,
      kind text not null,
      generation integer not null,
      expires_at timestamptz(3) not null
    )`
    yield* sql`create index tokens_of_grant on grant_tokens (grant_id, generation)`
    // One row. Not written here: all stores that are made from one image would have the same secret.
    yield* sql`create table grant_secret (only_row boolean primary key check (only_row), secret text not null)`
  }),

  "0027_subscriptions": Effect.gen(function* () {
    const sql = yield* SqlClient
    // Subscriptions of MCP clients are webhooks. Earlier versions do not know them: to those they are disabled.
    yield* sql`alter table webhooks add column subscription text, add column event text, add column key_id uuid,
      add column grant_id uuid, add column client text, add column expires_at timestamptz(3), add column own_rule uuid,
      add column suspended_reason text, add column gap_tries smallint, add column end_tries smallint not null default 0`
    yield* sql`create unique index webhooks_subscription on webhooks (subscription) where subscription is not null`
  }),

  "0028_stored_posts": Effect.gen(function* () {
    const sql = yield* SqlClient
    // The authors of posts on platforms that withdraw posts in their stream.
    yield* sql`create table stored_posts (
      platform text not null,
      post_id text not null,
      author text not null,
      at timestamptz(3) not null,
      noted_at timestamptz(3) not null default now(),
      primary key (platform, post_id)
    )`
    yield* sql`create index stored_posts_of_author on stored_posts (platform, author, at)`
    yield* sql`create index stored_posts_by_age on stored_posts (noted_at)`
  }),

  "0029_feeds": Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`create table account_feeds (
      account_id uuid not null references accounts,
      url text not null,
      added_at timestamptz(3) not null,
      primary key (account_id, url)
    )`
    yield* sql`create index account_feeds_by_url on account_feeds (url)`
    // One row, which changes with each change of the table above.
    yield* sql`create table feed_list (only_row boolean primary key check (only_row), version bigint not null)`
    yield* sql`insert into feed_list values (true, 0)`
    // What is known of a feed, for all who read it. `memory` is for the reader of feeds only.
    yield* sql`create table feed_records (
      url text primary key,
      title text,
      asked_at timestamptz(3),
      read_at timestamptz(3),
      next_at timestamptz(3) not null,
      missed_at timestamptz(3),
      error text,
      is_gone boolean not null,
      memory text not null
    )`
  })
}

/**
 * Whether servers of earlier versions can work on the schema after the migration. See "How to change the schema" in
 * docs/architecture.md.
 */
export const isAdditive: Readonly<Record<Exclude<keyof typeof migrations, BeforeServers>, boolean>> = {
  // Earlier versions do not know owners: they would open every stream a second time.
  "0015_servers": false,
  "0016_earlier_platform_rules": true,
  // Earlier versions would list candidates as rules.
  "0017_versions_of_rules": false,
  "0018_idempotency": true,
  "0019_replays": true,
  // Counts all stored matches, and no match can be stored meanwhile.
  "0020_counts_of_matches": false,
  "0021_batches": true,
  "0022_pauses_for_matching": true,
  "0023_generations": true,
  "0024_retired_rules_of_account": true,
  "0025_indexes_for_pages": true,
  "0026_grants": true,
  "0027_subscriptions": true,
  "0028_stored_posts": true,
  "0029_feeds": true
}

/** The tables in which migrations insert rows. A store is empty if the others are. */
export const SEEDED: ReadonlySet<string> = new Set(["deployment", "retention", "match_order", "feed_list"])

/** From versions that did not share a store with other servers. */
type BeforeServers = `000${string}` | `001${0 | 1 | 2 | 3 | 4}_${string}`
