/** Decodes client data with the schemas of core and reports every problem as an issue. */
import { Array as Arr, Either, Option, ParseResult, Predicate, type Schema, SchemaAST } from "effect"
import { type ArgumentIssue, InvalidArgument, MAX_ISSUES } from "../core/model/Errors.ts"
import { nearest } from "../core/text/nearest.ts"

/** The decoder of a struct. It refuses unknown fields: a typo must not silently widen a query. */
export const decoder = <A, I>(schema: Schema.Schema<A, I>): ((data: unknown) => Either.Either<A, InvalidArgument>) => {
  const decode = ParseResult.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })
  const fields = fieldsOf(schema.ast)
  return (data) => {
    const issues = new Issues()
    addOversized(data, issues)
    if (issues.count === 0) addLost(data, fields, issues)
    if (issues.count > 0) return Either.left(issues.error)
    return Either.mapLeft(decode(data), (issue) => {
      addIssues(issue, { path: [], fields, issues })
      return issues.error
    })
  }
}

// ---- helpers ----

type Path = ReadonlyArray<PropertyKey>

/** Counts all issues and keeps the first ones. */
class Issues {
  count = 0
  private readonly kept: Array<ArgumentIssue> = []

  add(path: Path, message: () => string): void {
    if (++this.count <= MAX_ISSUES) this.kept.push({ path: path.map(String).join("."), message: message() })
  }

  get error(): InvalidArgument {
    const [first = { path: "", message: "Is not valid" }, ...rest] = this.kept
    return new InvalidArgument({ issues: [first, ...rest], omitted: Math.max(0, this.count - MAX_ISSUES) })
  }
}

/** More than any valid object or array of a request has. Decoding costs up to 10 µs per entry. */
const MAX_ENTRIES = 1_000

/** Only the levels that schemas decode: sample events lie deeper. */
const addOversized = (data: unknown, issues: Issues): void => {
  const check = (value: unknown, path: Path): boolean => {
    if (typeof value !== "object" || value === null) return true
    const size = Array.isArray(value) ? value.length : Object.keys(value).length
    if (size > MAX_ENTRIES) issues.add(path, () => `Has ${size} entries: at most ${MAX_ENTRIES} are allowed`)
    return size <= MAX_ENTRIES
  }
  if (!check(data, []) || !Predicate.isRecord(data)) return
  for (const [field, value] of Object.entries(data)) check(value, [field])
}

/** Fields that decoding would lose without an error. */
const addLost = (data: unknown, fields: ReadonlyArray<string>, issues: Issues): void => {
  if (!Predicate.isRecord(data)) return
  for (const [field, value] of Object.entries(data)) {
    // An Effect struct without fields accepts any value except null.
    if (fields.length === 0) issues.add([field], () => unknownField(field, fields))
    // Decoding copies records by assignment, which drops a field with this name.
    else if (Predicate.isRecord(value) && Object.hasOwn(value, "__proto__")) {
      issues.add([field, "__proto__"], () => "Is not a known field")
    }
  }
}

const fieldsOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  SchemaAST.getPropertySignatures(SchemaAST.encodedAST(ast)).map(({ name }) => String(name))

interface Context {
  readonly path: Path
  /** Of the enclosing object. */
  readonly fields: ReadonlyArray<string>
  readonly issues: Issues
}

const addIssues = (issue: ParseResult.ParseIssue, context: Context): void => {
  const { path, fields, issues } = context
  if (issue._tag === "Pointer") return addIssues(issue.issue, { ...context, path: path.concat(issue.path) })
  if (issue._tag === "Missing") return issues.add(path, () => "Is missing")
  if (issue._tag === "Unexpected") return issues.add(path, () => unknownField(String(path.at(-1)), fields))
  const annotated = annotatedMessage(issue)
  if (annotated !== undefined) return issues.add(path, () => annotated)
  switch (issue._tag) {
    case "Composite": {
      const inner = { ...context, fields: fieldsOf(issue.ast) }
      for (const one of Arr.ensure(issue.issues)) addIssues(one, inner)
      return
    }
    case "Refinement":
    case "Transformation":
      return addIssues(issue.issue, context)
    case "Type":
      return issues.add(
        path,
        () => issue.message ?? `Expected ${kindOfSchema(issue.ast)}, got ${kindOfValue(issue.actual)}`
      )
    case "Forbidden":
      return issues.add(path, () => issue.message ?? "Is not allowed")
  }
}

/** The message annotation of the schema. */
const annotatedMessage = (issue: Exclude<ParseResult.ParseIssue, { _tag: "Pointer" | "Missing" | "Unexpected" }>) => {
  const annotation = Option.getOrUndefined(SchemaAST.getMessageAnnotation(issue.ast))
  const result = annotation?.(issue)
  return Predicate.hasProperty(result, "message") && typeof result.message === "string" ? result.message : undefined
}

const kindOfSchema = (ast: SchemaAST.AST): string => {
  switch (SchemaAST.encodedAST(ast)._tag) {
    case "StringKeyword":
      return "a string"
    case "NumberKeyword":
      return "a number"
    case "BooleanKeyword":
      return "true or false"
    case "TupleType":
      return "an array"
    case "TypeLiteral":
      return "an object"
    default:
      return "another value"
  }
}

const kindOfValue = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "an array"
  if (typeof value === "boolean") return String(value)
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}

const unknownField = (name: string, fields: ReadonlyArray<string>): string => {
  const suggestion = nearest(name, fields)
  if (suggestion !== undefined) return `Is not a known field: did you mean "${suggestion}"?`
  return fields.length === 0
    ? "Is not a known field: no fields are allowed here"
    : `Is not a known field: the fields are ${fields.join(", ")}`
}
