/**
 * Narrows schemas to the platforms of one server. The schemas of core accept any platform id; here a platform id
 * becomes a literal union, and a record by platform becomes a struct with one optional field per platform.
 */
import { Option, Schema, SchemaAST } from "effect"
import { PLATFORM_ID, type PlatformId } from "../core/model/PlatformId.ts"

export type PlatformSchemas = <A, I>(schema: Schema.Schema<A, I>) => Schema.Schema<A, I>

export const platformSchemas = (ids: ReadonlyArray<PlatformId>): PlatformSchemas => {
  const known = Schema.Literal(...ids).annotations({
    identifier: PLATFORM_ID,
    description: "Identifier of a platform",
    message: () => ({ message: `Expected one of ${ids.map((id) => `"${id}"`).join(", ")}`, override: true })
  }).ast
  const cache = new Map<SchemaAST.AST, SchemaAST.AST>()

  const visit = (ast: SchemaAST.AST): SchemaAST.AST => {
    const found = cache.get(ast) ?? (isPlatformId(ast) ? known : rebuild(ast, visit, ids))
    cache.set(ast, found)
    return found
  }

  return <A, I>(schema: Schema.Schema<A, I>) => Schema.make<A, I, never>(visit(schema.ast))
}

// ---- helpers ----

const isPlatformId = (ast: SchemaAST.AST): boolean =>
  Option.contains(SchemaAST.getIdentifierAnnotation(ast), PLATFORM_ID)

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
