/** Decodes client data with the schemas of core and reports every problem as an issue. */
import { Array as Arr, Either, Option, ParseResult, Predicate, type Schema, SchemaAST } from "effect"
import { type ArgumentIssue, InvalidArgument } from "../core/model/Errors.ts"
import { nearest } from "../core/text/nearest.ts"
import { MAX_ISSUES } from "../core/text/shownIssues.ts"
import { shownValue } from "../core/text/shownValue.ts"

/** The decoder of a struct. It refuses unknown fields: a typo must not silently widen a query. */
export const decoder = <A, I>(schema: Schema.Schema<A, I>): ((data: unknown) => Either.Either<A, InvalidArgument>) => {
  const decode = ParseResult.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })
  const fields = fieldsOf(schema.ast)
  return (data) => {
    const oversized = oversizedParts(data)
    if (oversized.length > 0) return Either.left(invalid(oversized))
    const lost = lostFields(data, fields)
    if (lost.length > 0) return Either.left(invalid(lost))
    return Either.mapLeft(decode(data), (issue) => invalid(problemsOf(issue, [], fields)))
  }
}

// ---- helpers ----

type Path = ReadonlyArray<PropertyKey>

interface Problem {
  readonly path: Path
  /** Lazy: a request can have far more problems than an error shows. */
  readonly message: () => string
}

const invalid = (problems: ReadonlyArray<Problem>): InvalidArgument => {
  const [first = { path: "", message: "Is not valid" }, ...rest] = problems
    .slice(0, MAX_ISSUES)
    .map(({ path, message }): ArgumentIssue => ({ path: path.map(String).join("."), message: message() }))
  return new InvalidArgument({ issues: [first, ...rest], omitted: Math.max(0, problems.length - MAX_ISSUES) })
}

/** More than any valid object or array of a request has. Decoding costs up to 10 µs per entry. */
const MAX_ENTRIES = 1_000

/** Checks only the two levels that schemas decode: sample events lie deeper. */
const oversizedParts = (data: unknown): ReadonlyArray<Problem> => {
  const check = (value: unknown, path: Path): ReadonlyArray<Problem> => {
    if (typeof value !== "object" || value === null) return []
    const size = Array.isArray(value) ? value.length : Object.keys(value).length
    const message = () => `Has ${size} entries: at most ${MAX_ENTRIES} are allowed in any list or object of a request`
    return size > MAX_ENTRIES ? [{ path, message }] : []
  }
  const whole = check(data, [])
  if (whole.length > 0 || !Predicate.isRecord(data)) return whole
  return Object.entries(data).flatMap(([field, value]) => check(value, [field]))
}

/** Fields that decoding would drop without an error. */
const lostFields = (data: unknown, fields: ReadonlyArray<string>): ReadonlyArray<Problem> => {
  if (!Predicate.isRecord(data)) return []
  // An Effect struct without fields accepts any value except null.
  if (fields.length === 0) {
    return Object.keys(data).map((name) => ({ path: [name], message: () => unknownField(name, fields) }))
  }
  // Decoding copies records by assignment, which drops a field with this name.
  return Object.entries(data)
    .filter(([, value]) => Predicate.isRecord(value) && Object.hasOwn(value, "__proto__"))
    .map(([field]) => ({ path: [field, "__proto__"], message: () => "Is not a known field" }))
}

const fieldsOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  SchemaAST.getPropertySignatures(SchemaAST.encodedAST(ast)).map(({ name }) => String(name))

/** `fields` are those of the enclosing object. */
const problemsOf = (
  issue: ParseResult.ParseIssue,
  path: Path,
  fields: ReadonlyArray<string>
): ReadonlyArray<Problem> => {
  const one = (message: () => string): ReadonlyArray<Problem> => [{ path, message }]
  if (issue._tag === "Pointer") return problemsOf(issue.issue, path.concat(issue.path), fields)
  if (issue._tag === "Missing") return one(() => "Is missing")
  if (issue._tag === "Unexpected") return one(() => unknownField(String(path.at(-1)), fields))
  const annotated = annotatedMessage(issue)
  if (annotated !== undefined) return one(() => annotated)
  switch (issue._tag) {
    case "Composite": {
      const values = literalsOf(issue.ast)
      if (values.length > 0) return one(() => `Expected one of ${values.join(", ")}, got ${shownValue(issue.actual)}`)
      const inner = fieldsOf(issue.ast)
      return Arr.ensure(issue.issues).flatMap((one) => problemsOf(one, path, inner))
    }
    case "Refinement":
    case "Transformation":
      return problemsOf(issue.issue, path, fields)
    case "Type":
      return one(() => issue.message ?? `Expected ${kindOfSchema(issue.ast)}, got ${kindOfValue(issue.actual)}`)
    case "Forbidden":
      return one(() => issue.message ?? "Is not allowed")
  }
}

/** The message annotation of the schema. */
const annotatedMessage = (issue: Exclude<ParseResult.ParseIssue, { _tag: "Pointer" | "Missing" | "Unexpected" }>) => {
  const annotation = Option.getOrUndefined(SchemaAST.getMessageAnnotation(issue.ast))
  const result = annotation?.(issue)
  return Predicate.hasProperty(result, "message") && typeof result.message === "string" ? result.message : undefined
}

/** The values of an enumeration; empty for any other schema. */
const literalsOf = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  const encoded = SchemaAST.encodedAST(ast)
  const types = encoded._tag === "Union" ? encoded.types : []
  const values = types.flatMap((type) => (type._tag === "Literal" ? [JSON.stringify(type.literal)] : []))
  return values.length < types.length ? [] : values
}

const kindOfSchema = (ast: SchemaAST.AST): string => {
  const encoded = SchemaAST.encodedAST(ast)
  switch (encoded._tag) {
    case "Literal":
      return JSON.stringify(encoded.literal)
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
