/** Types and Markdown helpers for the help of each platform. */

export interface Example {
  readonly rule: string
  readonly description: string
}

/** The checker reports an issue for `wrong` and none for `right`. */
export interface Mistake {
  readonly wrong: string
  readonly right: string
  readonly why: string
}

export interface LanguageHelp {
  readonly summary: string
  readonly operators: ReadonlyArray<{ readonly name: string; readonly description: string; readonly example: string }>
  readonly examples: ReadonlyArray<Example>
  readonly mistakes: ReadonlyArray<Mistake>
  readonly limits: Readonly<Record<string, number>>
  /** The full reference in Markdown. */
  readonly page: (limits: Readonly<Record<string, number>>) => string
}

export const section = (title: string, ...paragraphs: ReadonlyArray<string>): string =>
  [`## ${title}`, ...paragraphs].join("\n\n")

export const bullets = (items: ReadonlyArray<string>): string => items.map((item) => `- ${item}`).join("\n")

export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n")

/** A code span. Text with a backtick needs double backticks around it. */
export const code = (text: string): string => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``)

export const exampleList = (examples: ReadonlyArray<Example>): string =>
  bullets(examples.map(({ rule, description }) => `${code(rule)}: ${description}`))

/** What to send as an event to a check or an explanation. `needed`: the fields without which it is none. */
export const eventSection = (event: object, needed: string): string =>
  section("Example event", `To check a filter with. Only ${needed} are needed:`, code(JSON.stringify(event)))

export const mistakeTable = (mistakes: ReadonlyArray<Mistake>): string =>
  table(
    ["Wrong", "Right", "Why"],
    mistakes.map(({ wrong, right, why }) => [code(wrong), code(right), why])
  )

export const limitList = (limits: Readonly<Record<string, number>>, names: Readonly<Record<string, string>>): string =>
  bullets(
    Object.entries(limits).map(
      ([name, value]) => `${names[name] ?? name.replaceAll("_", " ")}: ${value.toLocaleString("en-US")}`
    )
  )

// ---- helpers ----

/** A bar ends a table cell, even in a code span. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ")
}
