/** Hidden characters: a person does not see them, a language model reads them. Finds, counts and removes them. */
import { Schema } from "effect"
import { codePointName } from "../../core/text/codePointName.ts"

export const HiddenCharacters = Schema.Struct({
  kind: Schema.Literal(
    "zero_width",
    "bidi_control",
    "tag",
    "variation_selector",
    "blank",
    "private_use",
    "noncharacter",
    "control",
    "other"
  ),
  count: Schema.Number,
  code_points: Schema.Array(Schema.String).annotations({ description: "At most ten code points" })
}).annotations({
  identifier: "HiddenCharacters",
  description: "Characters that are invisible and have no legitimate use at their position: a sign of an attack"
})
export type HiddenCharacters = typeof HiddenCharacters.Type

/** Counts hidden characters by kind. */
export class HiddenTally {
  private readonly found = new Map<HiddenCharacters["kind"], { count: number; readonly points: Set<string> }>()

  add(run: string): void {
    for (const character of run) {
      const point = character.codePointAt(0) ?? 0
      const kind = kindOf(character)
      const entry = this.found.get(kind) ?? { count: 0, points: new Set() }
      entry.count++
      if (entry.points.size < MAX_CODE_POINTS) entry.points.add(codePointName(point))
      this.found.set(kind, entry)
    }
  }

  get list(): ReadonlyArray<HiddenCharacters> {
    return [...this.found].map(([kind, { count, points }]) => ({ kind, count, code_points: [...points] }))
  }
}

/** Without hidden characters, which `onRun` gets. A run that separates words becomes a space. */
export const withoutHidden = (text: string, onRun: (run: string) => void = () => {}): string =>
  isPlain.test(text)
    ? text
    : text.replace(suspect, (run, harmless: string | undefined) => {
        if (harmless !== undefined) return run
        onRun(run)
        return separator.test(run) ? " " : ""
      })

/** The first characters, at most `max`, without the part of an emoji sequence or surrogate pair that the cut leaves. */
export const headOf = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, max).replace(danglingEnd, "")

// ---- helpers ----

const MAX_CODE_POINTS = 10

/** Scripts that use zero-width joiners between letters. */
const JOINING_SCRIPTS = "Arab Beng Deva Gujr Guru Khmr Knda Mlym Mong Mymr Orya Sinh Syrc Taml Telu Tibt"
  .split(" ")
  .map((script) => `\\p{scx=${script}}`)
  .join("")

/** Legitimate invisible characters: in emoji and flags, as joiners between letters, as variation selectors. */
const HARMLESS = [
  "\\p{Extended_Pictographic}(?:[\\ufe0e\\ufe0f]|\\p{Emoji_Modifier})?(?:\\u200d\\p{Extended_Pictographic}(?:\\ufe0f|\\p{Emoji_Modifier})?)+",
  "\\p{Emoji}[\\ufe0e\\ufe0f]",
  "\\u{1f3f4}\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}",
  `(?<=[${JOINING_SCRIPTS}])[\\u200c\\u200d]`,
  // Names use up to 32 variants of a character. The rest of the range would carry any text, one letter per character.
  "\\p{sc=Han}[\\ufe00-\\ufe02\\u{e0100}-\\u{e011f}]",
  // Only after a letter: the selectors themselves belong to the script, too.
  "(?<=(?=\\p{L})\\p{sc=Mong})[\\u180b-\\u180d\\u180f]"
].join("|")

/** Line breaks and tabs are visible. U+2800 is the blank pattern of braille. */
const HIDDEN =
  "[\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}\\p{Co}\\p{Cs}\\u2800\\ufff9-\\ufffb\\u2028\\u2029]|(?![\\t\\n\\r])\\p{Cc}"

/** The group matches a harmless sequence; without it, the match is a run of hidden characters. */
const suspect = new RegExp(`(${HARMLESS})|(?:${HIDDEN})+`, "gu")

/** The look-behind keeps the search linear. */
const danglingEnd = new RegExp(`(?<!${HIDDEN})(?:${HIDDEN})+$`, "u")

const isPlain = /^[\t\n\r\x20-\x7e]*$/

const separator = /[\v\f\u0085\u2028\u2029\u2800]/

const kinds: ReadonlyArray<readonly [HiddenCharacters["kind"], RegExp]> = [
  ["bidi_control", /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/],
  ["zero_width", /[\u180e\u200b-\u200d\u2060\ufeff]/],
  ["variation_selector", /[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u],
  ["tag", /[\u{e0000}-\u{e007f}]/u],
  ["blank", /[\u115f\u1160\u2800\u3164\uffa0]/],
  ["private_use", /\p{Co}/u],
  ["noncharacter", /\p{Noncharacter_Code_Point}/u],
  ["control", /[\p{Cc}\u2028\u2029]/u]
]

const kindOf = (character: string): HiddenCharacters["kind"] =>
  kinds.find(([, pattern]) => pattern.test(character))?.[0] ?? "other"
