/** Decodes client data with the schemas of core and reports every problem as an issue. */
import { Array as Arr, Either, Option, ParseResult, Predicate, type Schema, SchemaAST } from "effect"
import { type ArgumentIssue, InvalidArgument } from "../core/model/Errors.ts"
import { nearest } from "../core/text/nearest.ts"

/** The decoder of a struct. It refuses unknown fields: a typo must not silently widen a query. */
export const decoder = <A, I>(schema: Schema.Schema<A, I>): ((data: unknown) => Either.Either<A, InvalidArgument>) => {
  const decode = ParseResult.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })
  const fields = fieldsOf(schema.ast)
  return (data) => {
    // An Effect struct without fields accepts any value except null.
    if (fields.length === 0 && Predicate.isRecord(data) && Object.keys(data).length > 0) {
      return Either.left(
        invalid(Object.keys(data).map((name) => ({ path: name, message: unknownField(name, fields) })))
      )
    }
    const protoIssues = protoFieldIssues(data)
    if (protoIssues.length > 0) return Either.left(invalid(protoIssues))
    return Either.mapLeft(decode(data), (issue) => invalid(issuesOf(issue, [], fields)))
  }
}

// ---- helpers ----

type Path = ReadonlyArray<PropertyKey>

const invalid = (issues: ReadonlyArray<ArgumentIssue>) =>
  new InvalidArgument({
    issues: Arr.isNonEmptyReadonlyArray(issues) ? issues : [{ path: "", message: "Is not valid" }]
  })

/** Decoding copies records by assignment, which silently drops a field with this name. */
const protoFieldIssues = (data: unknown): ReadonlyArray<ArgumentIssue> =>
  Predicate.isRecord(data)
    ? Object.entries(data).flatMap(([field, value]) =>
        Predicate.isRecord(value) && Object.hasOwn(value, "__proto__")
          ? [{ path: `${field}.__proto__`, message: "Is not a known field" }]
          : []
      )
    : []

const fieldsOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  SchemaAST.getPropertySignatures(SchemaAST.encodedAST(ast)).map(({ name }) => String(name))

/** `fields` are those of the enclosing object. */
const issuesOf = (issue: ParseResult.ParseIssue, path: Path, fields: ReadonlyArray<string>): Array<ArgumentIssue> => {
  const one = (message: string): Array<ArgumentIssue> => [{ path: path.map(String).join("."), message }]
  if (issue._tag === "Pointer") return issuesOf(issue.issue, path.concat(issue.path), fields)
  if (issue._tag === "Missing") return one("Is missing")
  if (issue._tag === "Unexpected") return one(unknownField(String(path.at(-1)), fields))
  const annotated = annotatedMessage(issue)
  if (annotated !== undefined) return one(annotated)
  switch (issue._tag) {
    case "Composite":
      return Arr.ensure(issue.issues).flatMap((inner) => issuesOf(inner, path, fieldsOf(issue.ast)))
    case "Refinement":
    case "Transformation":
      return issuesOf(issue.issue, path, fields)
    case "Type":
      return one(issue.message ?? `Expected ${kindOfSchema(issue.ast)}, got ${kindOfValue(issue.actual)}`)
    case "Forbidden":
      return one(issue.message ?? "Is not allowed")
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
