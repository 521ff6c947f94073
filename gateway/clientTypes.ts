/**
 * The router's types as text, for who writes a client. The router's own types are those of Effect schemas; these say the
 * same of what travels and need nothing but `@trpc/server`, which every client of tRPC has.
 */
import type { TRPCProcedureType, TRPCRouterRecord } from "@trpc/server"
import { Option, Schema, SchemaAST } from "effect"
import { ERROR_CODES } from "./errors.ts"
import type { AppRouter, Meta } from "./trpc.ts"

/** The whole of `client.d.ts`. */
export const clientTypes = (router: AppRouter): string => {
  const named: Named = new Map()
  const procedures = recordOf(router._def.record, named)
  return [
    "/** The types of Earshot's router. The build writes this file. */",
    IMPORTS,
    ...[...named.values()].map(({ text }) => text),
    declaration("ErrorCode", literals(ERROR_CODES), "What went wrong, as a stable name"),
    ERROR_SHAPE,
    declaration("AppRouter", `TRPCBuiltRouter<${ROOT}, ${procedures}>`, "For `createTRPCClient<AppRouter>`"),
    ""
  ].join("\n\n")
}

// ---- helpers ----

/** The types with a name of their own, in the order in which they were met. */
type Named = Map<string, { readonly text: string; readonly type: string }>

const IMPORTS = `import type {
  TRPC_ERROR_CODE_NUMBER,
  TRPCBuiltRouter,
  TRPCMutationProcedure,
  TRPCQueryProcedure,
  TRPCSubscriptionProcedure
} from "@trpc/server"`

/** As the router's error formatter makes it. */
const ERROR_SHAPE = `/** Every error of every procedure. */
export type ErrorShape = {
  code: TRPC_ERROR_CODE_NUMBER
  message: string
  data: {
    code: ErrorCode
    message: string
    /** Facts by name; for invalid_argument, issues lists each problem with its path. */
    details: Readonly<Record<string, unknown>>
    httpStatus: number
    path?: string
    stack?: string
  }
}`

/** What the procedures of the router share. A client knows nothing of the server's context. */
const ROOT = "{ ctx: object; meta: object; errorShape: ErrorShape; transformer: false }"

const PROCEDURES: Readonly<Record<TRPCProcedureType, string>> = {
  query: "TRPCQueryProcedure",
  mutation: "TRPCMutationProcedure",
  subscription: "TRPCSubscriptionProcedure"
}

const recordOf = (record: TRPCRouterRecord, named: Named): string =>
  block(
    Object.entries(record).map(([name, entry]) => {
      if (typeof entry !== "function") return `${name}: ${recordOf(entry as TRPCRouterRecord, named)}`
      const { type, meta } = entry._def
      // Each procedure of the router is made with it.
      const { input, output, description } = meta as Meta
      const received = typeOf(output.ast, named)
      const definition = block([
        "meta: unknown",
        `input: ${inputOf(input.ast, named)}`,
        `output: ${type === "subscription" ? `AsyncIterable<${received}, void, unknown>` : received}`
      ])
      return `${comment(description)}${name}: ${PROCEDURES[type]}<${definition}>`
    })
  )

/** A procedure that takes nothing is called with no argument; one whose fields are all optional may be. */
const inputOf = (ast: SchemaAST.AST, named: Named): string => {
  const sent = encodedOf(ast)
  if (!SchemaAST.isTypeLiteral(sent)) throw new Error(`An input has fields, and this has none: ${sent}`)
  if (sent.propertySignatures.length === 0) return "void"
  const type = typeOf(ast, named)
  return sent.propertySignatures.every(({ isOptional }) => isOptional) ? `${type} | void` : type
}

/** The type of what travels: the name of one that has a name, else the type itself. */
const typeOf = (ast: SchemaAST.AST, named: Named): string => {
  const sent = encodedOf(ast)
  const name = Option.getOrUndefined(SchemaAST.getIdentifierAnnotation(ast))
  if (name === undefined || !(SchemaAST.isTypeLiteral(sent) || SchemaAST.isUnion(sent))) return bodyOf(sent, named)
  const type = bodyOf(sent, named)
  const known = named.get(name)
  if (known !== undefined && known.type !== type) throw new Error(`Two types are called "${name}"`)
  if (known === undefined) named.set(name, { type, text: declaration(name, type, documentationOf(ast)) })
  return name
}

const bodyOf = (ast: SchemaAST.AST, named: Named): string => {
  switch (ast._tag) {
    case "StringKeyword":
      return "string"
    case "NumberKeyword":
      return "number"
    case "BooleanKeyword":
      return "boolean"
    case "UnknownKeyword":
      return "unknown"
    case "UndefinedKeyword":
      return "undefined"
    case "Literal":
      return JSON.stringify(ast.literal)
    case "Union":
      return ast.types.map((member) => typeOf(member, named)).join(" | ")
    case "TupleType": {
      const [item, ...others] = ast.rest
      if (item === undefined || others.length > 0 || ast.elements.length > 0) break
      return `ReadonlyArray<${typeOf(item.type, named)}>`
    }
    case "TypeLiteral": {
      const [rest, ...others] = ast.indexSignatures
      if (rest === undefined) return block(ast.propertySignatures.map((field) => fieldOf(field, named)))
      if (others.length > 0 || ast.propertySignatures.length > 0) break
      // `keyof` of an index signature would have numbers in it, of Effect's records it has not.
      return `{ readonly [key in ${typeOf(rest.parameter, named)}]: ${typeOf(rest.type, named)} }`
    }
  }
  throw new Error(`There is no text yet for the type ${ast}: add it here`)
}

const fieldOf = (field: SchemaAST.PropertySignature, named: Named): string => {
  const type = typeOf(field.type, named)
  // A type with a name has its description where it is declared.
  const documentation = descriptionOf(field) ?? (named.has(type) ? undefined : documentationOf(field.type))
  return `${comment(documentation)}readonly ${nameOf(field)}: ${type}`
}

/** What is sent of it: the side that a transformation begins with, whatever is checked of it. */
const encodedOf = (ast: SchemaAST.AST): SchemaAST.AST =>
  SchemaAST.isRefinement(ast) || SchemaAST.isTransformation(ast) ? encodedOf(ast.from) : ast

/** What its JSON Schema says where that is written by hand, else the description nearest to the outside. */
const documentationOf = (ast: SchemaAST.AST): string | undefined => {
  const written = SchemaAST.getJSONSchemaAnnotation(ast)
  if (Option.isSome(written)) {
    const { description, default: fallback }: Written = written.value
    return fallback === undefined ? description : `${description ?? ""}\n@default ${JSON.stringify(fallback)}`.trim()
  }
  const inside = SchemaAST.isRefinement(ast) || SchemaAST.isTransformation(ast) ? documentationOf(ast.from) : undefined
  return descriptionOf(ast) ?? inside
}

interface Written {
  readonly description?: string
  readonly default?: unknown
}

const descriptionOf = (annotated: SchemaAST.Annotated): string | undefined =>
  SchemaAST.getDescriptionAnnotation(annotated).pipe(
    Option.filter((description) => !BUILT_IN.has(description)),
    Option.getOrUndefined
  )

/** What Effect says of every string, number and so on. */
const BUILT_IN = new Set(
  [Schema.String, Schema.Number, Schema.Boolean, Schema.Int].flatMap(({ ast }) =>
    Option.toArray(SchemaAST.getDescriptionAnnotation(ast))
  )
)

const declaration = (name: string, type: string, documentation: string | undefined): string =>
  `${comment(documentation)}export type ${name} = ${type}`

const literals = (values: ReadonlyArray<string>): string => values.map((value) => JSON.stringify(value)).join(" | ")

const block = (members: ReadonlyArray<string>): string =>
  `{\n${members.map((member) => member.replace(/^/gm, "  ")).join("\n")}\n}`

const nameOf = ({ name, isOptional }: SchemaAST.PropertySignature): string => {
  const text = String(name)
  return `${/^[a-z_]\w*$/i.test(text) ? text : JSON.stringify(text)}${isOptional ? "?" : ""}`
}

/** Above what it is about; broken where a line would be too long. */
const comment = (documentation: string | undefined): string => {
  if (documentation === undefined) return ""
  const lines = documentation.replaceAll("*/", "*\\/").match(/\S(?:.{0,99}|\S*)(?=\s|$)/gm) ?? []
  return lines.length === 1 ? `/** ${lines[0]} */\n` : `/**\n${lines.map((line) => ` * ${line}\n`).join("")} */\n`
}
