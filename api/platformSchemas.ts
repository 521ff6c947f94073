/**
 * Narrows schemas to the platforms of one server. The schemas of core accept any platform id; here a platform id
 * becomes a literal union, a record by platform becomes a struct with one optional field per platform, and a match
 * becomes a union of the matches of each platform, with the event format as payload.
 */
import { Option, Schema, SchemaAST } from "effect"
import type { Language } from "../core/languages/Language.ts"
import { PAYLOAD } from "../core/matches/Match.ts"
import { PLATFORM_ID, type PlatformId } from "../core/model/PlatformId.ts"
import { shownValue } from "../core/text/shownValue.ts"

export interface PlatformSchemas {
  <A, I>(schema: Schema.Schema<A, I>): Schema.Schema<A, I>
  /** The platforms of the server. Absent: none that adds operations. */
  readonly platforms?: ReadonlyArray<PlatformId>
}

export const platformSchemas = (platforms: ReadonlyArray<Language>): PlatformSchemas => {
  const ids = platforms.map(({ id }) => id)
  const known = Schema.Literal(...ids).annotations({
    identifier: PLATFORM_ID,
    description: "Identifier of a platform",
    message: ({ actual }) => ({
      message: `Expected one of ${ids.map((id) => `"${id}"`).join(", ")}, got ${shownValue(actual)}`,
      override: true
    })
  }).ast
  const cache = new Map<SchemaAST.AST, SchemaAST.AST>()

  const visit = (ast: SchemaAST.AST): SchemaAST.AST => {
    const found = cache.get(ast) ?? (isPlatformId(ast) ? known : rebuilt(ast))
    cache.set(ast, found)
    return found
  }

  const rebuilt = (ast: SchemaAST.AST): SchemaAST.AST => {
    const plain = rebuild(ast, visit, ids)
    return SchemaAST.isTypeLiteral(plain) && plain.propertySignatures.some(({ type }) => isPayload(type))
      ? SchemaAST.Union.make(
          platforms.map((platform) => matchOn(plain, platform)),
          plain.annotations
        )
      : plain
  }

  const narrowed = <A, I>(schema: Schema.Schema<A, I>) => Schema.make<A, I, never>(visit(schema.ast))
  return Object.assign(narrowed, { platforms: ids })
}

// ---- helpers ----

const isPlatformId = (ast: SchemaAST.AST): boolean =>
  Option.contains(SchemaAST.getIdentifierAnnotation(ast), PLATFORM_ID)

const isPayload = (ast: SchemaAST.AST): boolean => ast.annotations[PAYLOAD] === true

/** The schema of a match, with one platform and its payload. */
const matchOn = (match: SchemaAST.TypeLiteral, { id, name, events }: Language): SchemaAST.AST => {
  const prefix = id.charAt(0).toUpperCase() + id.slice(1)
  const typeOf = (type: SchemaAST.AST) => {
    if (isPlatformId(type)) return new SchemaAST.Literal(id)
    return isPayload(type) ? payloadOf(events.schema.ast, `${prefix}Payload`) : type
  }
  const fields = match.propertySignatures.map(
    ({ name, type, isOptional, isReadonly, annotations }) =>
      new SchemaAST.PropertySignature(name, typeOf(type), isOptional, isReadonly, annotations)
  )
  return new SchemaAST.TypeLiteral(fields, match.indexSignatures, {
    [SchemaAST.IdentifierAnnotationId]: `${prefix}Match`,
    [SchemaAST.DescriptionAnnotationId]: `A match on ${name}`
  })
}

/** Every field is optional: the payload of a redacted match is empty. */
const payloadOf = (event: SchemaAST.AST, identifier: string): SchemaAST.AST => {
  if (!SchemaAST.isTypeLiteral(event)) throw new Error(`The schema of an event is not a struct: ${event}`)
  const fields = event.propertySignatures.map(
    ({ name, type, isReadonly, annotations }) =>
      new SchemaAST.PropertySignature(name, type, true, isReadonly, annotations)
  )
  return new SchemaAST.TypeLiteral(fields, event.indexSignatures, {
    ...event.annotations,
    [SchemaAST.IdentifierAnnotationId]: identifier
  })
}

const rebuild = (
  ast: SchemaAST.AST,
  visit: (ast: SchemaAST.AST) => SchemaAST.AST,
  ids: ReadonlyArray<PlatformId>
): SchemaAST.AST => {
  switch (ast._tag) {
    case "TypeLiteral": {
      const fields = ast.propertySignatures.map(
        ({ name, type, isOptional, isReadonly, annotations }) =>
          new SchemaAST.PropertySignature(name, visit(type), isOptional, isReadonly, annotations)
      )
      const byPlatform = ast.indexSignatures
        .filter(({ parameter }) => isPlatformId(parameter))
        .flatMap(({ type, isReadonly }) =>
          ids.map((id) => new SchemaAST.PropertySignature(id, visit(type), true, isReadonly))
        )
      const others = ast.indexSignatures
        .filter(({ parameter }) => !isPlatformId(parameter))
        .map(({ parameter, type, isReadonly }) => new SchemaAST.IndexSignature(parameter, visit(type), isReadonly))
      return new SchemaAST.TypeLiteral([...fields, ...byPlatform], others, ast.annotations)
    }
    case "TupleType":
      return new SchemaAST.TupleType(
        ast.elements.map(
          ({ type, isOptional, annotations }) => new SchemaAST.OptionalType(visit(type), isOptional, annotations)
        ),
        ast.rest.map(({ type, annotations }) => new SchemaAST.Type(visit(type), annotations)),
        ast.isReadonly,
        ast.annotations
      )
    case "Union":
      return SchemaAST.Union.make(ast.types.map(visit), ast.annotations)
    case "Refinement":
      return new SchemaAST.Refinement(visit(ast.from), ast.filter, ast.annotations)
    case "Transformation":
      return new SchemaAST.Transformation(visit(ast.from), visit(ast.to), ast.transformation, ast.annotations)
    default:
      return ast
  }
}
