/** What a tool is, and how it is made from an operation. */
import type { ToolAnnotations } from "@modelcontextprotocol/server"
import { Effect, Either, Predicate, Schema, SchemaAST } from "effect"
import { type Contract, changesState } from "../../api/Contract.ts"
import type { PlatformSchemas } from "../../api/platformSchemas.ts"
import type { MatchId } from "../../core/model/Ids.ts"
import { decoder } from "../decode.ts"
import { toWire } from "../errors.ts"
import { keyedInput } from "../operations/idempotency.ts"
import type { Call, CallError } from "./calls.ts"
import type { Excerpts } from "./excerpts.ts"
import { argumentsSchema, type JsonSchema, resultSchema } from "./schemas.ts"
import { Treatment } from "./untrusted.ts"

export interface ToolResult {
  /** For programs. Absent if the text says it all. */
  readonly structured?: Structured
  /** For the model. */
  readonly text: string
}

export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly annotations: ToolAnnotations
  readonly input: JsonSchema
  /** Of the structured content. */
  readonly output?: JsonSchema
  /** `secret` delimits untrusted text and must be new for each call. */
  readonly run: <R>(call: Call<R>, args: unknown, secret: string) => Effect.Effect<ToolResult, CallError, R>
}

/** The arguments of a call: as they were sent, and those that only the tool has. */
export interface Asked<P> {
  readonly args: unknown
  readonly own: P
  /** Where filters match the events of the result. */
  readonly excerpts?: Excerpts
  /** Where to wait for the matches after the call. */
  readonly cursor?: MatchId
}

export interface Definition<A, I, O, OI, P> extends Pick<Tool, "name" | "title" | "description" | "annotations"> {
  readonly contract: Contract<A, I, O, OI>
  /** If the tool returns something else than the operation; `textOnly`: no structured content. */
  readonly output?: Schema.Schema.AnyNoContext | "textOnly"
  /** By default the output of the operation, without hidden characters. */
  readonly structured?: (output: O, treatment: Treatment, asked: Asked<P>) => Structured
  readonly text: (output: O, treatment: Treatment, asked: Asked<P>) => string
  /** Runs before the operation. Only for `tool`. */
  readonly cursor?: <R>(call: Call<R>, args: unknown) => Effect.Effect<MatchId, never, R>
  /** Calls the operation as often as it needs. By default once, with its arguments. Only for `toolWith`. */
  readonly read?: <R>(call: (input: I) => Effect.Effect<O, CallError, R>, own: P) => Effect.Effect<O, CallError, R>
  /** Only for `toolWith`. */
  readonly excerpts?: <R>(call: Call<R>, output: O, own: P) => Effect.Effect<Excerpts, never, R>
}

export const toolMaker = (schemas: PlatformSchemas) => ({
  /** A tool with the arguments of its operation. */
  tool: <A, I, O extends object, OI>(definition: Definition<A, I, O, OI, undefined>): Tool => {
    const { contract } = definition
    const input = schemas(changesState(contract) ? keyedInput(contract.input) : contract.input)
    const decode = decoder(input)
    return toolOf(definition, {
      input: argumentsSchema(input),
      run: (call, args, describe) =>
        Effect.gen(function* () {
          const cursor = yield* definition.cursor?.(call, args) ?? Effect.succeed(undefined)
          const output = yield* call({ contract, decode }, args)
          return describe(output, { args, own: undefined, ...(cursor !== undefined && { cursor }) })
        })
    })
  },

  /** A tool with arguments of its own, beside those of its operation unless it has `read`. Needs the scope `read`: it decodes first. */
  toolWith: <A, I, O extends object, OI, P, PI>(
    own: Schema.Schema<P, PI>,
    definition: Definition<A, I, O, OI, P>
  ): Tool => {
    const { contract, read, excerpts: find } = definition
    const both = schemas(read === undefined ? Schema.make<P, PI>(Schema.extend(contract.input, own).ast) : own)
    const [decode, decodeBoth] = [decoder(schemas(contract.input)), decoder(both)]
    const names = SchemaAST.getPropertySignatures(SchemaAST.encodedAST(own.ast)).map(({ name }) => String(name))
    return toolOf(definition, {
      input: argumentsSchema(both),
      run: (call, args, describe) =>
        Effect.gen(function* () {
          const asked = yield* Either.mapLeft(decodeBoth(args), toWire)
          const callWith = (input: unknown) => call({ contract, decode }, input)
          const output = yield* read?.(callWith, asked) ?? callWith(without(args, names))
          const excerpts = yield* find?.(call, output, asked) ?? Effect.succeed(new Map())
          return describe(output, { args, own: asked, excerpts })
        })
    })
  }
})

// ---- helpers ----

type Structured = { readonly [field: string]: unknown }

/** The fields of a result, and those of its items. */
const READ_LEVELS = 2
/** A tool that changes something returns what others read: their schemas have the fields of a rule. */
const CHANGED_LEVELS = 1

const toolOf = <A, I, O extends object, OI, P>(
  {
    contract,
    output = contract.output,
    structured,
    text,
    excerpts: _,
    cursor: __,
    read: ___,
    ...texts
  }: Definition<A, I, O, OI, P>,
  {
    input,
    run
  }: {
    readonly input: JsonSchema
    readonly run: <R>(
      call: Call<R>,
      args: unknown,
      describe: (value: O, asked: Asked<P>) => (secret: string) => ToolResult
    ) => Effect.Effect<(secret: string) => ToolResult, CallError, R>
  }
): Tool => {
  const describe = (value: O, asked: Asked<P>) => (secret: string) => {
    const [program, model] = [new Treatment(secret), new Treatment(secret)]
    const description = text(value, model, asked)
    const result = { text: [description, ...model.remarks].join("\n\n") }
    if (output === "textOnly") return result
    const content = structured?.(value, program, asked) ?? program.shaped(value)
    const treated = {
      ...(program.hidden.length > 0 && { hidden_characters: program.hidden }),
      ...(program.isShortened && { shortened: true })
    }
    return { ...result, structured: { ...content, ...treated } }
  }
  const levels = texts.annotations.readOnlyHint === true ? READ_LEVELS : CHANGED_LEVELS
  return {
    ...texts,
    input,
    ...(output !== "textOnly" && { output: resultSchema(output, levels) }),
    run: (call, args, secret) => Effect.map(run(call, args, describe), (resultWith) => resultWith(secret))
  }
}

const without = (args: unknown, names: ReadonlyArray<string>): unknown =>
  Predicate.isRecord(args) ? Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name))) : args
