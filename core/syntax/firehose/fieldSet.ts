/** The fields that a language with Firehose's syntax searches. */

/** The forms of a value. */
export type Form = "term" | "phrase" | "wildcard" | "fuzzy" | "regex" | "range" | "group"

interface FieldInfo {
  readonly name: string
  readonly caseSensitive: boolean
  /** An event can have several values; one match is enough. */
  readonly multiValued: boolean
  readonly description: string
  readonly forms: ReadonlyArray<Form>
  /** A complete rule that passes the checker. */
  readonly example: string
}

export interface TextFieldInfo extends FieldInfo {
  readonly kind: "text"
  /** In expressions. Fields of two languages that mean the same share it: filters on them can be translated. */
  readonly target: string
  /** True only for titles. */
  readonly keepsStopWords: boolean
}

export interface KeywordFieldInfo extends FieldInfo {
  readonly kind: "keyword"
  readonly target: string
  /** What its values look like. `code`: a language code, not only one of Firehose's. Absent: any text. */
  readonly format?: "domain" | "url" | "time" | "language" | "code" | "page_type" | "page_category"
  /** All values. Absent: there are others. */
  readonly values?: ReadonlyArray<string>
}

export interface NumberFieldInfo extends FieldInfo {
  readonly kind: "number"
  readonly target: string
  /** Absent: any number. */
  readonly range?: { readonly name: string; readonly max: number }
}

export interface FilterFieldInfo extends FieldInfo {
  readonly kind: "filter"
}

export type Field = TextFieldInfo | KeywordFieldInfo | NumberFieldInfo | FilterFieldInfo

/** A wrong field name: `use` is the intended field, `why` the advice if there is none. */
export interface MisnamedField {
  readonly use?: string
  readonly why?: string
  /** It is an option of the rule object. */
  readonly isRuleOption?: boolean
}

export interface FieldSet {
  readonly all: ReadonlyArray<Field>
  readonly names: ReadonlyArray<string>
  readonly of: (name: string) => Field | undefined
  /** The field of words without a field. */
  readonly default: Field | undefined
  readonly misnamed: (name: string) => MisnamedField | undefined
  /** What an event is, in messages. */
  readonly noun: Noun
}

export interface Noun {
  readonly one: string
  readonly many: string
  /** As it comes in the stream. Absent: `one`. */
  readonly event?: string
}

export const fieldSet = (set: {
  readonly all: ReadonlyArray<Field>
  readonly defaultName: string
  /** In lower case. */
  readonly misnamed: ReadonlyMap<string, MisnamedField>
  readonly noun: Noun
}): FieldSet => {
  const byName = new Map(set.all.map((field) => [field.name, field]))
  return {
    all: set.all,
    names: set.all.map(({ name }) => name),
    of: (name) => byName.get(name),
    default: byName.get(set.defaultName),
    misnamed: (name) => set.misnamed.get(name.toLowerCase()),
    noun: set.noun
  }
}

/** Names, separated by spaces, that people write for a field. */
export const misnamedAs = (use: string, names: string): ReadonlyArray<readonly [string, MisnamedField]> =>
  names.split(" ").map((name) => [name, { use }])

/** Names for which there is no field. */
export const withoutField = (why: string, names: string): ReadonlyArray<readonly [string, MisnamedField]> =>
  names.split(" ").map((name) => [name, { why }])
