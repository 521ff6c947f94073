/** `earshot matches`: lists matches or follows them as they are stored. */
import { Args, Command, Options } from "@effect/cli"
import { Console, Effect, Option, Schema } from "effect"
import { callOf } from "../api/calls.ts"
import { contracts } from "../api/contracts.ts"
import type { Language } from "../core/languages/Language.ts"
import type { Match } from "../core/matches/Match.ts"
import { MatchId } from "../core/model/Ids.ts"
import { DEFAULT_PAGE, MAX_PAGE } from "../core/model/paging.ts"
import { describeGaps } from "./coverage.ts"
import { UsageError } from "./failures.ts"
import { follow } from "./follow.ts"
import { histogramCommand } from "./histogram.ts"
import { matchLine } from "./matchLine.ts"
import { matchSelection } from "./matchSelection.ts"
import { wholeNumberOption } from "./numberOption.ts"
import { type RedactActions, redactCommand } from "./redact.ts"
import { jsonOption, printJson, type Remote, type TargetActions, targetHelp, targetOptions } from "./remote.ts"
import { visibleJson } from "./terminal.ts"

export interface MatchesActions<E> extends TargetActions<E>, RedactActions<E> {
  /** Width of standard output, if it is a terminal. */
  readonly columns: Option.Option<Effect.Effect<number>>
}

export const matchesCommand = <E>(actions: MatchesActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make(
    "matches",
    {
      ...matchSelection(languages),
      limit: wholeNumberOption("limit", { min: 1, max: MAX_PAGE }).pipe(
        Options.withDescription(`Maximum number to list, 1 to ${MAX_PAGE} (default: ${DEFAULT_PAGE})`),
        Options.optional
      ),
      cursor: Options.text("cursor").pipe(
        Options.withPseudoName("match-id"),
        Options.withDescription(
          "List matches older than this one; with --follow, start with those newer than it (default: start at the newest)"
        ),
        Options.optional
      ),
      follow: Options.boolean("follow").pipe(
        Options.withAlias("f"),
        Options.withDescription("Print matches as they are stored, oldest first, until Ctrl-C")
      ),
      ...targetOptions,
      json: jsonOption("Print the response as JSON; with --follow, one match per line")
    },
    ({ follow: isFollowing, limit, json, url, account, ...filter }) =>
      Effect.gen(function* () {
        if (isFollowing && Option.isSome(limit)) {
          return yield* new UsageError({ message: "--limit cannot be combined with --follow, which runs until Ctrl-C" })
        }
        if (Option.exists(filter.cursor, (cursor) => !isMatchId(cursor))) {
          return yield* new UsageError({ message: "--cursor: expected the id of a match, such as match_…" })
        }
        const remote = yield* actions.connectTo({ url, account })
        const query = {
          ...Option.match(filter.rule, { onNone: () => ({}), onSome: (rule_id) => ({ rule_id }) }),
          ...Option.match(filter.platform, { onNone: () => ({}), onSome: (platform) => ({ platform }) })
        }
        const print = yield* json ? Effect.succeed(printJsonLine) : printLines(remote, actions.columns, languages)
        if (isFollowing) return yield* follow({ remote, query, cursor: filter.cursor, print, json })
        const page = {
          ...query,
          ...Option.match(limit, { onNone: () => ({}), onSome: (limit) => ({ limit }) }),
          ...Option.match(filter.cursor, { onNone: () => ({}), onSome: (cursor) => ({ cursor }) })
        }
        const found = yield* remote.request(callOf(contracts.matches.list, page))
        if (json) return yield* printJson(found)
        yield* Effect.forEach(found.matches, print)
        if (found.matches.length === 0) yield* Console.error("No matches")
        for (const line of describeGaps(found.coverage)) yield* Console.error(line)
        if (found.next_cursor !== undefined) yield* Console.error(`More with --cursor ${found.next_cursor}`)
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp(
        "List matches, newest first, or follow them as they are stored. Also lists the times when a platform was not watched."
      )
    ),
    Command.withSubcommands([
      showCommand(actions),
      histogramCommand(actions, languages),
      redactCommand(actions, languages)
    ])
  )

// ---- helpers ----

const showCommand = <E>(actions: TargetActions<E>) =>
  Command.make(
    "show",
    { id: Args.text({ name: "match-id" }).pipe(Args.withDescription("Id of the match")), ...targetOptions },
    ({ id, ...target }) =>
      Effect.gen(function* () {
        const remote = yield* actions.connectTo(target)
        const { match } = yield* remote.request(callOf(contracts.matches.get, { match_id: id }))
        yield* printJson(match)
      }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(targetHelp("Print one match with its whole payload, as JSON.")))

const isMatchId = Schema.is(MatchId)

const printJsonLine = (match: Match) => Console.log(visibleJson(match))

/** With the name of each match's rule. The names are read again when a rule is unknown. */
const printLines = (
  remote: Remote,
  columns: Option.Option<Effect.Effect<number>>,
  languages: ReadonlyArray<Language>
) =>
  Effect.gen(function* () {
    const readNames = Effect.map(
      remote.request(callOf(contracts.rules.list)),
      ({ rules }) => new Map<string, string>(rules.map(({ id, name }) => [id, name]))
    )
    let names = yield* readNames
    return (match: Match) =>
      Effect.gen(function* () {
        if (!names.has(match.rule_id)) {
          names = yield* Effect.orElseSucceed(readNames, () => names)
          // Still unknown: the rule was deleted. Do not ask again.
          if (!names.has(match.rule_id)) names.set(match.rule_id, match.rule_id)
        }
        const width = Option.isSome(columns) ? Option.some(yield* columns.value) : Option.none()
        const rule = names.get(match.rule_id) ?? match.rule_id
        yield* Console.log(matchLine(match, { rule, columns: width, languages }))
      })
  })
