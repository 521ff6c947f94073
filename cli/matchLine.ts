/** A match in one line, with control characters made visible. */
import { Option } from "effect"
import type { Language } from "../core/languages/Language.ts"
import type { Match } from "../core/matches/Match.ts"
import { fitted, visible } from "./terminal.ts"

/** Truncated to `columns`, if given. */
export const matchLine = (
  match: Match,
  options: {
    readonly rule: string
    readonly columns: Option.Option<number>
    readonly languages: ReadonlyArray<Language>
  }
): string => {
  const { rule, columns, languages } = options
  const longest = Math.max(...languages.map(({ id }) => id.length))
  const title = firstLine(languages, match)
  const head = [match.created_at, match.platform.padEnd(longest)]
  return Option.match(columns, {
    onNone: () => [...head, visible(rule), visible(title)].join(GAP),
    onSome: (width) => {
      const name = fitted(rule, MAX_NAME_COLUMNS)
      const [time, platform] = head
      const rest = fitted(`${platform}${GAP}${name}${GAP}${title}`, Math.max(width - `${time}${GAP}`.length, 1))
      return `${DIM}${time}${UNDIM}${GAP}${rest}`
    }
  })
}

// ---- helpers ----

const GAP = "  "

const MAX_NAME_COLUMNS = 24

const DIM = "\u001b[2m"
const UNDIM = "\u001b[22m"

const firstLine = (languages: ReadonlyArray<Language>, match: Match): string =>
  textOf(
    languages.find(({ id }) => id === match.platform),
    match
  )
    .split(lineEnds)
    .find((line) => line.trim() !== "")
    ?.trim() ?? ""

const lineEnds = /[\n\v\f\r\u0085\u2028\u2029]+/

const textOf = (language: Language | undefined, { payload, platform_post_id, redacted }: Match): string =>
  redacted === undefined
    ? (language?.events.titleOf(payload.value) ?? platform_post_id)
    : `(removed: ${redacted.reason}) ${platform_post_id}`
