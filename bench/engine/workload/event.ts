/** An event as the workload makes it: the record of the platform for us, the plain form for everyone else. */
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

/** Text and fields in columns parted by tabs; no text here has one. */
export const writePlain = ({ text, fields }: PlainEvent): string => [text, ...fields].join("\t")

export const readPlain = (line: string): PlainEvent => {
  const [text = "", ...fields] = line.split("\t")
  return { text, fields }
}
