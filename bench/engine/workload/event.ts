/** An event of the workload: the platform's record for us, plain text and fields for the peers. */
import type { FieldName } from "./rule.ts"

export interface MadeEvent {
  readonly record: unknown
  readonly plain: PlainEvent
}

export interface PlainEvent {
  readonly text: string
  /** As `from=bob`. */
  readonly fields: ReadonlyArray<string>
}

export const fieldTerm = (name: FieldName, value: string): string => `${name}=${value}`

/** Tab-separated columns. Texts contain no tabs. */
export const writePlain = ({ text, fields }: PlainEvent): string => [text, ...fields].join("\t")

export const readPlain = (line: string): PlainEvent => {
  const [text = "", ...fields] = line.split("\t")
  return { text, fields }
}
