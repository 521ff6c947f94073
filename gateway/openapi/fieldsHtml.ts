/** The schemas of the OpenAPI document as lists of fields. A field with fields of its own can be opened. */
import { type Content, type Html, html, prose } from "./html.ts"

export interface SchemaObject {
  readonly $ref?: string
  readonly description?: string
  readonly type?: string | ReadonlyArray<string>
  readonly format?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly default?: unknown
  readonly required?: ReadonlyArray<string>
  readonly properties?: Readonly<Record<string, SchemaObject>>
  readonly additionalProperties?: boolean | SchemaObject
  readonly items?: SchemaObject
  readonly anyOf?: ReadonlyArray<SchemaObject>
  readonly oneOf?: ReadonlyArray<SchemaObject>
  readonly contentSchema?: SchemaObject
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly uniqueItems?: boolean
}

/** What a part of the document may refer to. */
export interface Known {
  readonly schemas: Readonly<Record<string, SchemaObject>>
  /** Ids of the operations, by method and path. */
  readonly links: ReadonlyMap<string, string>
}

export interface Field {
  /** Absent for one of several alternatives. */
  readonly name?: string
  readonly schema: SchemaObject
  readonly required?: boolean
  readonly description?: string | undefined
  readonly example?: unknown
}

export const fieldList = (fields: ReadonlyArray<Field>, known: Known): Content =>
  fields.length > 0 && html`<ul class="fields">${fields.map((field) => fieldItem(field, known))}</ul>`

/** The fields of an object or of its alternatives; for other schemas, the schema itself. */
export const fieldsOf = (schema: SchemaObject, known: Known): Content => {
  if (schema.properties === undefined) return fieldList(alternatives(schema) ?? [{ schema }], known)
  const { properties, required = [], additionalProperties } = schema
  const fields = Object.entries(properties).map(([name, one]) => ({
    name,
    schema: one,
    required: required.includes(name)
  }))
  const others = isSchema(additionalProperties) ? [{ name: "*", schema: additionalProperties }] : []
  return fieldList([...fields, ...others], known)
}

/** The last part of a reference. */
export const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1)

// ---- helpers ----

const fieldItem = ({ name, schema, required = false, description, example }: Field, known: Known): Html => {
  const target = targetOf(schema, known)
  const text = prose(description ?? schema.description ?? target.description, known.links)
  const values = [
    ...valuesOf(target),
    ...(isSchema(target.items) ? valuesOf(targetOf(target.items, known)).map((one) => html`each: ${one}`) : []),
    ...(example === undefined ? [] : [html`such as <code>${shownValue(example)}</code>`])
  ]
  const type = [typeOf(schema, known), ...limitsOf(target)].map((part, index) => [index > 0 && ", ", part])
  return html`<li><p>${name !== undefined && html`<code>${name}</code> `}<i>${type}</i>${required && html` <em>required</em>`}</p>${text}${values.length > 0 && html`<p class="facts">${values.map((value) => html`<span>${value}</span>`)}</p>`}${inside(schema, known)}</li>`
}

/** What opens: the fields of an object, of the items of a list, of the values of a map. */
const inside = (schema: SchemaObject, known: Known): Content => {
  const { $ref, properties = {}, items, additionalProperties, contentSchema } = schema
  if ($ref !== undefined) {
    const name = nameOf($ref)
    // The script of the page replaces the link with the fields, which are on the page once.
    return (
      hasFields(targetOf(schema, known)) &&
      html`<details data-of="schema-${name}"><summary>Fields of ${name}</summary><p><a href="#schema-${name}">${name}</a></p></details>`
    )
  }
  const names = Object.keys(properties)
  if (names.length > 0) {
    const more = names.length > 4 && ` and ${names.length - 3} more`
    const shown = names.slice(0, more === false ? 4 : 3)
    return html`<details><summary>${shown.map((name, index) => html`${index > 0 && ", "}<code>${name}</code>`)}${more}</summary>${fieldsOf(schema, known)}</details>`
  }
  const inner = items ?? contentSchema ?? (isSchema(additionalProperties) ? additionalProperties : undefined)
  if (inner !== undefined) return inside(inner, known)
  return fieldList(alternatives(schema) ?? [], known)
}

/** Of one with a name. The others are shown where they are used. */
const hasFields = ({ properties, oneOf, additionalProperties }: SchemaObject): boolean =>
  (properties ?? oneOf) !== undefined || isSchema(additionalProperties)

const alternatives = ({ oneOf, anyOf }: SchemaObject): ReadonlyArray<Field> | undefined =>
  // Of `anyOf` the document has nothing but formats, which the type names.
  (oneOf ?? anyOf?.filter(({ type, $ref }) => (type ?? $ref) !== undefined))?.map((schema) => ({
    schema,
    description: kindOf(schema)
  }))

/** What tells an alternative from the others: a field with a single value. */
const kindOf = ({ properties = {}, description }: SchemaObject): string | undefined => {
  const kind = Object.entries(properties).find(([, { enum: values = [] }]) => values.length === 1)
  return kind === undefined ? description : `\`${kind[0]}\` is \`${shownValue(kind[1].enum?.[0])}\``
}

const typeOf = (schema: SchemaObject, known: Known): Content => {
  const { $ref, type, items, contentSchema, additionalProperties, properties, oneOf, anyOf = [] } = schema
  if ($ref !== undefined) {
    const target = targetOf(schema, known)
    const name = nameOf($ref)
    return !hasFields(target) ? typeOf(target, known) : html`<a href="#schema-${name}">${name}</a>`
  }
  if (type === "array") return html`list of ${isSchema(items) ? typeOf(items, known) : "anything"}`
  if (contentSchema !== undefined) return html`JSON text of ${typeOf(contentSchema, known)}`
  if (isSchema(additionalProperties) && properties === undefined) {
    return html`map of ${typeOf(additionalProperties, known)}`
  }
  if (oneOf !== undefined) return "one of"
  const formats = [schema, ...anyOf].flatMap(({ format }) => format ?? [])
  const types = [type ?? "anything"].flat().join(" or ")
  return formats.length === 0 ? types : `${types} (${formats.join(" or ")})`
}

const limitsOf = (schema: SchemaObject): ReadonlyArray<string> => {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, minProperties, uniqueItems } = schema
  const limits = [
    rangeOf(minimum, maximum),
    rangeOf(minLength, maxLength, "character"),
    rangeOf(minItems, maxItems, "item"),
    rangeOf(minProperties, undefined, "field"),
    uniqueItems === true && "no repeats"
  ]
  return limits.filter((limit) => limit !== false)
}

const rangeOf = (low: number | undefined, high: number | undefined, noun?: string): string | false => {
  const unit = noun === undefined ? "" : ` ${noun}${(high ?? low) === 1 ? "" : "s"}`
  if (low === undefined) return high !== undefined && `at most ${high}${unit}`
  return high === undefined ? `at least ${low}${unit}` : `${low} to ${high}${unit}`
}

const valuesOf = ({ enum: values = [], pattern, default: usual }: SchemaObject): ReadonlyArray<Html> => {
  const codes = values.map((value) => html` <code>${shownValue(value)}</code>`)
  const facts = [
    codes.length > 0 && html`${codes.length === 1 ? "always" : "one of"}${codes}`,
    pattern !== undefined && html`pattern <code>${pattern}</code>`,
    usual !== undefined && html`default <code>${shownValue(usual)}</code>`
  ]
  return facts.filter((fact) => fact !== false)
}

const shownValue = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

const isSchema = (schema: boolean | SchemaObject | undefined): schema is SchemaObject =>
  typeof schema === "object" && Object.keys(schema).length > 0

const targetOf = (schema: SchemaObject, { schemas }: Known): SchemaObject =>
  schema.$ref === undefined ? schema : (schemas[nameOf(schema.$ref)] ?? {})
