/** `earshot feeds`: the feeds that the account has added. There is no such command while the platform is off. */
import { Args, Command } from "@effect/cli"
import { Console, Effect, Either } from "effect"
import { callOf } from "../api/calls.ts"
import { contractsOfPlatforms } from "../api/contracts.ts"
import type { Feed } from "../core/feeds/Feed.ts"
import { addressesIn, opmlOf } from "../core/feeds/opml.ts"
import type { Language } from "../core/languages/Language.ts"
import { counted } from "../core/text/counted.ts"
import { AlreadyReported, errorBodyOf, issuesIn, UsageError } from "./failures.ts"
import { type FilterActions, textIn } from "./filter.ts"
import { afterColon, namingOptions } from "./optionNames.ts"
import { jsonOption, printJson, type TargetActions, targetHelp, targetOptions } from "./remote.ts"
import { visible } from "./terminal.ts"

interface Actions<E> extends TargetActions<E>, FilterActions<E> {}

/** None without the platform. */
export const feedsCommand = <E>(actions: Actions<E>, languages: ReadonlyArray<Language>) =>
  languages.some(({ id }) => id === contracts.list.platform)
    ? [
        Command.make("feeds").pipe(
          Command.withDescription("Add feeds that are read for the account, and list, remove, import and export them"),
          Command.withSubcommands([
            list(actions),
            add(actions),
            remove(actions),
            importList(actions),
            exportList(actions)
          ])
        )
      ]
    : []

// ---- helpers ----

const contracts = contractsOfPlatforms.feeds

/** Of a list of feeds, in characters. */
const MAX_LIST = 5_000_000

const common = { ...targetOptions, json: jsonOption("Print the response as JSON") }

const address = Args.text({ name: "address" })

const list = <E>({ connectTo }: Actions<E>) =>
  Command.make("list", common, ({ json, ...target }) =>
    Effect.gen(function* () {
      const remote = yield* connectTo(target)
      const { feeds } = yield* remote.request(callOf(contracts.list))
      if (json) return yield* printJson({ feeds })
      if (feeds.length === 0) return yield* Console.error("No feeds yet. Add one with: earshot feeds add")
      yield* Console.log(feeds.map(describe).join("\n"))
    }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(targetHelp("List the feeds of the account, by address, with their state.")))

const add = <E>({ connectTo }: Actions<E>) =>
  Command.make(
    "add",
    {
      address: address.pipe(
        Args.withDescription("Address of an RSS, Atom or JSON feed, such as https://example.org/feed.xml")
      ),
      ...common
    },
    ({ address, json, ...target }) =>
      Effect.gen(function* () {
        const remote = yield* connectTo(target)
        const request = remote.request(callOf(contracts.add, { url: address }))
        const { feed } = yield* json ? request : Effect.mapError(request, namingOptions({ url: address }))
        yield* json ? printJson({ feed }) : Console.log(describe(feed))
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp("Add a feed. The items that it shows at first match nothing; those that appear later do.")
    )
  )

const remove = <E>({ connectTo }: Actions<E>) =>
  Command.make(
    "remove",
    { address: address.pipe(Args.withDescription("Address of the feed, as shown by feeds list")), ...common },
    ({ address, json, ...target }) =>
      Effect.gen(function* () {
        const remote = yield* connectTo(target)
        const removed = yield* remote.request(callOf(contracts.remove, { url: address }))
        yield* json ? printJson(removed) : Console.log(`Removed ${visible(removed.url)}`)
      }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(targetHelp("Remove a feed. Stored matches stay.")))

const importList = <E>(actions: Actions<E>) =>
  Command.make(
    "import",
    {
      file: Args.text({ name: "file" }).pipe(
        Args.withDescription(
          "OPML, as other readers export it, or one address per line; - is standard input and must come after the options"
        )
      ),
      ...targetOptions,
      json: jsonOption("Print the added feeds and the failures as JSON")
    },
    ({ file, json, ...target }) =>
      Effect.gen(function* () {
        const list = addressesIn(yield* textIn(actions, file, { what: "a list of feeds", max: MAX_LIST }))
        if (Either.isLeft(list)) return yield* new UsageError({ message: list.left })
        const urls = list.right
        const remote = yield* actions.connectTo(target)
        const feeds: Array<Feed> = []
        const failed: Array<{ readonly url: string; readonly code: string; readonly message: string }> = []
        for (const [index, url] of urls.entries()) {
          const place = `${index + 1}/${urls.length}  ${visible(url)}`
          const answer = yield* Effect.either(remote.request(callOf(contracts.add, { url })))
          if (Either.isRight(answer)) {
            feeds.push(answer.right.feed)
            if (!json) yield* Console.log(`${place}  ${answer.right.feed.state}`)
            continue
          }
          const { code, message, details } = errorBodyOf(answer.left)
          const [issue] = issuesIn(details)
          failed.push({ url, code, message })
          if (!json)
            yield* Console.error(
              `earshot: ${place}: ${visible(issue === undefined ? message : afterColon(issue.message))}`
            )
          // The others would fail, too.
          if (ENDS.has(code)) break
        }
        const summary = `Added ${feeds.length} of ${counted(urls.length, "feed")}; those that were there already count`
        yield* json ? printJson({ feeds, failed }) : Console.log(summary)
        if (feeds.length < urls.length) return yield* new AlreadyReported()
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp(
        "Add all feeds of a list. It is safe to repeat. The exit code is 1 if one of them could not be added; a limit ends the import."
      )
    )
  )

const exportList = <E>({ connectTo }: Actions<E>) =>
  Command.make("export", targetOptions, (target) =>
    Effect.gen(function* () {
      const remote = yield* connectTo(target)
      yield* Console.log(opmlOf((yield* remote.request(callOf(contracts.list))).feeds))
    }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(targetHelp("Print the feeds of the account as OPML, for other readers.")))

const ENDS: ReadonlySet<string> = new Set(["resource_exhausted", "unauthenticated", "permission_denied", "unavailable"])

const describe = ({ url, title, state, last_read_at, next_read_at, last_error, missed_at }: Feed): string =>
  [
    visible(url),
    ...(title === undefined ? [] : [`  ${visible(title)}`]),
    `  ${[
      last_error === undefined ? state : `${state}: ${visible(last_error)}`,
      ...(last_read_at === undefined ? [] : [`last read ${last_read_at}`]),
      ...(next_read_at === undefined ? [] : [`next read ${next_read_at}`]),
      ...(missed_at === undefined ? [] : [`items may be missing before ${missed_at}`])
    ].join(", ")}`
  ].join("\n")
