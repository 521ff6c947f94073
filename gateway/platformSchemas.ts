/**
 * The operations' schemas for the platforms of one server. The core's schemas accept any platform id; here each becomes
 * the list of the ids there are, and each record by platform an object with a field for each of them.
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
  const done = new Map<SchemaAST.AST, SchemaAST.AST>()

  const visit = (ast: SchemaAST.AST): SchemaAST.AST => {
    const found = done.get(ast) ?? (isPlatformId(ast) ? known : rebuilt(ast, visit, ids))
    done.set(ast, found)
    return found
  }

  return <A, I>(schema: Schema.Schema<A, I>) => Schema.make<A, I, never>(visit(schema.ast))
}

// ---- helpers ----

const isPlatformId = (ast: SchemaAST.AST): boolean =>
  Option.contains(SchemaAST.getIdentifierAnnotation(ast), PLATFORM_ID)

const rebuilt = (
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
