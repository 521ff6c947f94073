/** The tools for the feeds of the account. There are none while the platform is off. */
import type { ToolAnnotations } from "@modelcontextprotocol/server"
import { contractsOfPlatforms } from "../../api/contracts.ts"
import type { Feed } from "../../core/feeds/Feed.ts"
import type { Language } from "../../core/languages/Language.ts"
import type { Tool, toolMaker } from "./tool.ts"
import type { Treatment } from "./untrusted.ts"

export const feedTools = (
  { tool }: ReturnType<typeof toolMaker>,
  { readOnly, languages }: { readonly readOnly: ToolAnnotations; readonly languages: ReadonlyArray<Language> }
): ReadonlyArray<Tool> => {
  if (!languages.some(({ id }) => id === feeds.list.platform)) return []
  const changing = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true }
  return [
    tool({
      name: "list_feeds",
      title: "List the feeds",
      description:
        "Lists the feeds that the account has added, with their state: waiting (not read yet), ok, failing or gone. Rules on feeds match their new items, and those of the feeds that the operator reads for all accounts, which are not listed. Takes no arguments.",
      annotations: readOnly,
      contract: feeds.list,
      text: (output, treatment) =>
        output.feeds.length === 0
          ? "The account has added no feeds. Next: add_feed"
          : output.feeds.map((feed) => describe(feed, treatment)).join("\n")
    }),
    tool({
      name: "add_feed",
      title: "Add a feed",
      description:
        "Reads the RSS, Atom or JSON feed at this address from now on, for the rules of the account. The items that it shows now match nothing; later ones do. url is the address of the feed, not of the web page. Next: list_feeds after half a minute, which says whether it can be read, and create_rule with a filter on feeds.",
      annotations: changing,
      contract: feeds.add,
      text: ({ feed }, treatment) => describe(feed, treatment)
    }),
    tool({
      name: "remove_feed",
      title: "Remove a feed",
      description: "Stops reading a feed for the account. Stored matches stay. list_feeds has the url.",
      annotations: changing,
      contract: feeds.remove,
      text: ({ url }, treatment) => `Removed ${treatment.line(url)}`
    })
  ]
}

// ---- helpers ----

const { feeds } = contractsOfPlatforms

const describe = ({ url, title, state, last_read_at, last_error, missed_at }: Feed, treatment: Treatment): string =>
  [
    `- ${treatment.line(url)}: ${state}`,
    ...(title === undefined ? [] : [`"${treatment.line(title)}"`]),
    ...(last_read_at === undefined ? [] : [`last read ${last_read_at}`]),
    ...(last_error === undefined ? [] : [treatment.line(last_error)]),
    ...(missed_at === undefined ? [] : [`items may be missing before ${missed_at}`])
  ].join(", ")
