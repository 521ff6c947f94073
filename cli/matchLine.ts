/** A match in one line. What strangers wrote cannot act on the terminal. */
import { Option, Schema } from "effect"
import type { Match } from "../core/matches/Match.ts"
import { PLATFORM_IDS } from "../core/model/PlatformId.ts"
import { fitted, visible } from "./terminal.ts"

/** Cut to the columns, where there are any. */
export const matchLine = (match: Match, rule: string, columns: Option.Option<number>): string => {
  const head = [match.created_at, match.platform.padEnd(LONGEST_PLATFORM)]
  return Option.match(columns, {
    onNone: () => [...head, visible(rule), visible(firstLine(match))].join(GAP),
    onSome: (width) => {
      const name = fitted(rule, WIDEST_NAME)
      const [time, platform] = head
      const rest = fitted(
        `${platform}${GAP}${name}${GAP}${firstLine(match)}`,
        Math.max(width - `${time}${GAP}`.length, 1)
      )
      return `${DIM}${time}${UNDIM}${GAP}${rest}`
    }
  })
}

// ---- helpers ----

const GAP = "  "

const LONGEST_PLATFORM = Math.max(...PLATFORM_IDS.map((id) => id.length))

const WIDEST_NAME = 24

const DIM = "\u001b[2m"
const UNDIM = "\u001b[22m"

const firstLine = (match: Match): string =>
  textOf(match)
    .split(LINE_ENDS)
    .find((line) => line.trim() !== "")
    ?.trim() ?? ""

const LINE_ENDS = /[\n\v\f\r\u0085\u2028\u2029]+/

/** Of a post its text, of a page its title, or its address where it has none. */
const textOf = ({ payload, platform_post_id }: Match): string =>
  Option.match(asEvent(payload), {
    onNone: () => platform_post_id,
    onSome: ({ data, document }) => data?.text ?? document?.title ?? document?.url ?? platform_post_id
  })

const text = Schema.optionalWith(Schema.String, { exact: true })

const asEvent = Schema.decodeUnknownOption(
  Schema.Struct({
    data: Schema.optionalWith(Schema.Struct({ text }), { exact: true }),
    document: Schema.optionalWith(Schema.Struct({ title: text, url: text }), { exact: true })
  })
)
