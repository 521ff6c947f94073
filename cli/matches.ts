/** `earshot matches`: what the rules met, as a list or as it comes in. */
import { Command, Options } from "@effect/cli"
import { Console, Effect, Option, Schema } from "effect"
import type { Coverage } from "../core/coverage/Coverage.ts"
import type { Match } from "../core/matches/Match.ts"
import { MatchList } from "../core/matches/Matches.ts"
import { MatchId } from "../core/model/Ids.ts"
import type { PlatformId } from "../core/model/PlatformId.ts"
import { Rule } from "../core/rules/Rule.ts"
import type { Language } from "../core/syntax/language.ts"
import { WrongUsage } from "./failures.ts"
import { follow } from "./follow.ts"
import { matchLine } from "./matchLine.ts"
import { wholeNumberOption } from "./numberOption.ts"
import { platformOption } from "./platformOption.ts"
import { jsonOption, type PlaceActions, placeHelp, placeOptions, post, type Remote } from "./remote.ts"
import { visible } from "./terminal.ts"

export interface MatchesActions<E> extends PlaceActions<E> {
  /** How wide standard output is, if it is a terminal. */
  readonly columns: Option.Option<Effect.Effect<number>>
}

export const matchesCommand = <E>(actions: MatchesActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make(
    "matches",
    {
      rule: Options.text("rule").pipe(
        Options.withPseudoName("rule-id"),
        Options.withDescription("Only matches of this rule (default: of all)"),
        Options.optional
      ),
      platform: platformOption(languages).pipe(
        Options.withDescription("Only matches on this platform (default: on all)"),
        Options.optional
      ),
      limit: wholeNumberOption("limit", { min: 1, max: 500 }).pipe(
        Options.withDescription("How many to list, 1 to 500 (default: 50)"),
        Options.optional
      ),
      cursor: Options.text("cursor").pipe(
        Options.withPseudoName("match-id"),
        Options.withDescription(
          "List what is older than this match; with --follow, begin with what is newer (default: the newest; with --follow, only what is new)"
        ),
        Options.optional
      ),
      follow: Options.boolean("follow").pipe(
        Options.withAlias("f"),
        Options.withDescription("Print matches as they come in, oldest first, until Ctrl-C")
      ),
      ...placeOptions,
      json: jsonOption("Print what the server answers, as JSON; with --follow, one match a line")
    },
    ({ follow: isFollowing, limit, json, url, account, ...filter }) =>
      Effect.gen(function* () {
        if (isFollowing && Option.isSome(limit)) {
          return yield* new WrongUsage({ message: "--limit is for a list: --follow goes on until Ctrl-C" })
        }
        if (Option.exists(filter.cursor, (cursor) => !isMatchId(cursor))) {
          return yield* new WrongUsage({ message: "--cursor: expected the id of a match, as match_…" })
        }
        const remote = yield* actions.at({ url, account })
        const query = {
          ...Option.match(filter.rule, { onNone: () => ({}), onSome: (rule_id) => ({ rule_id }) }),
          ...Option.match(filter.platform, { onNone: () => ({}), onSome: (platform) => ({ platform }) })
        }
        const print = yield* json ? Effect.succeed(printJson) : printLines(remote, actions.columns, languages)
        if (isFollowing) return yield* follow({ remote, query, cursor: filter.cursor, print, json })
        const page = {
          ...query,
          ...Option.match(limit, { onNone: () => ({}), onSome: (limit) => ({ limit }) }),
          ...Option.match(filter.cursor, { onNone: () => ({}), onSome: (cursor) => ({ cursor }) })
        }
        const found = yield* remote.request(post("/matches", page, MatchList))
        if (json) return yield* Console.log(JSON.stringify(found, undefined, 2))
        yield* Effect.forEach(found.matches, print)
        if (found.matches.length === 0) yield* Console.error("No matches")
        for (const line of unknownTimes(found.coverage)) yield* Console.error(line)
        if (found.next_cursor !== undefined) yield* Console.error(`More with --cursor ${found.next_cursor}`)
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      placeHelp(
        "List matches, newest first, or follow them as they come in; and say when a platform was not watched, so that no match can be told from no look."
      )
    )
  )

// ---- helpers ----

const isMatchId = Schema.is(MatchId)

const printJson = (match: Match) => Console.log(JSON.stringify(match))

/** With the names of the rules, which are asked for again when one is not known yet. */
const printLines = (
  remote: Remote,
  columns: Option.Option<Effect.Effect<number>>,
  languages: ReadonlyArray<Language>
) =>
  Effect.gen(function* () {
    const readNames = Effect.map(
      remote.request({ method: "GET", path: "/api.ListRules", answer: Rules }),
      ({ rules }) => new Map<string, string>(rules.map(({ id, name }) => [id, name]))
    )
    let names = yield* readNames
    return (match: Match) =>
      Effect.gen(function* () {
        if (!names.has(match.rule_id)) {
          names = yield* Effect.orElseSucceed(readNames, () => names)
          // A rule that is gone by now is asked for once.
          if (!names.has(match.rule_id)) names.set(match.rule_id, match.rule_id)
        }
        const width = Option.isSome(columns) ? Option.some(yield* columns.value) : Option.none()
        const rule = names.get(match.rule_id) ?? match.rule_id
        yield* Console.log(matchLine(match, { rule, columns: width, languages }))
      })
  })

const Rules = Schema.Struct({ rules: Schema.Array(Rule) })

/** Of which times there may be no match for another reason than that there was none: nobody looked, or it was deleted. */
const unknownTimes = ({ platforms, kept_since }: Coverage): ReadonlyArray<string> => [
  ...(kept_since === undefined ? [] : [`No longer kept: matches from before ${kept_since}`]),
  ...platforms.flatMap(({ platform, watched_since, gaps, more_gaps }) => {
    if (watched_since === undefined) return [`Not watched: ${platform}, never yet`]
    const lost = gaps.filter(({ recovered }) => !recovered)
    const told = lost
      .slice(0, MOST_GAPS)
      .map(
        ({ from, to, cause, detail }) =>
          `Not watched: ${platform}, ${to === undefined ? `since ${from}` : `${from} to ${to}`}, ${cause}: ${visible(detail)}`
      )
    return lost.length > MOST_GAPS || more_gaps ? [...told, moreGaps(platform)] : told
  })
]

const MOST_GAPS = 5

const moreGaps = (platform: PlatformId) => `Not watched: ${platform}, also at other times; --json lists them`
