/** The tRPC router, derived from the contracts. Clients need only the type `AppRouter`. */
import {
  initTRPC,
  type TRPCMutationProcedure,
  type TRPCQueryProcedure,
  type TRPCSubscriptionProcedure
} from "@trpc/server"
import {
  Cause,
  Effect,
  Either,
  Option,
  Predicate,
  Record as Rec,
  type Schema,
  SchemaAST,
  Struct,
  type Types
} from "effect"
import { type AnyContract, type Contract, changesState } from "../../api/Contract.ts"
import { type contracts, type contractsOfPlatforms, contractsWith } from "../../api/contracts.ts"
import type { PlatformSchemas } from "../../api/platformSchemas.ts"
import { asActor, type Scope } from "../../core/keys/Key.ts"
import { admitCall, checkScope } from "../auth.ts"
import { type KeyField, keyedInput, splitKey } from "../operations/idempotency.ts"
import { longAnswer } from "../operations/pages.ts"
import { perform } from "../operations/perform.ts"
import type { Context, Resolved } from "./context.ts"
import { runOrThrow, toTrpc, wireOf } from "./errors.ts"
import {
  type DataOf,
  EVENTS_DESCRIPTION,
  EventMessage,
  eventOf,
  matchOf,
  resolveWatch,
  WATCH_DESCRIPTION,
  WatchInput,
  WatchMessage
} from "./subscriptions.ts"
import { type NamedSchemas, zodInput, zodOutput } from "./zodSchemas.ts"

/** Metadata of a procedure: `clientTypes.ts` generates types from it, trpc-to-openapi reads `openapi`. */
export type Meta = {
  readonly input: Schema.Schema.All
  /** For a subscription, the schema of one message. */
  readonly output: Schema.Schema.All
  readonly description?: string
  readonly openapi?: {
    readonly method: "GET" | "POST"
    readonly path: `/${string}`
    readonly operationId: string
    readonly tags: Array<string>
    readonly summary: string
    readonly description: string
  }
}

const t = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({
    isDev: false,
    sse: {
      ping: { enabled: true, intervalMs: 15_000 },
      // Two missed pings.
      client: { reconnectAfterInactivityMs: 40_000 }
    },
    errorFormatter: ({ shape, error, ctx }) => {
      const { code, message, details } = wireOf(error, ctx)
      return { ...shape, message, data: { ...shape.data, code, message, details } }
    }
  })

/** Fills `named` with the JSON Schemas that the router refers to. */
export const makeRouter = (schemas: PlatformSchemas, named: NamedSchemas = {}) =>
  // Clients know the operations of every server; the console asks first which platforms this one has.
  t.router<Omit<AllProcedures, keyof typeof contractsOfPlatforms>>(proceduresOn(schemas, named))

export type AppRouter = ReturnType<typeof makeRouter>

/** With the operations that only servers with some platform have. */
export type RouterOfPlatforms = ReturnType<typeof t.router<AllProcedures>>

// ---- helpers ----

type AllProcedures = ReturnType<typeof proceduresOn>

const proceduresOn = (schemas: PlatformSchemas, named: NamedSchemas) => {
  const { ofContract, subscription } = procedures(schemas, named)
  // tRPC infers procedure types from parsers, but cannot resolve generic ones: `Procedures` writes them out.
  const derived = Rec.map(contractsWith(schemas.platforms ?? []), (group) =>
    Rec.map<string, AnyContract, unknown>(group, ofContract)
  ) as Procedures
  return {
    ...derived,
    matches: {
      ...derived.matches,
      watch: subscription(WatchMessage, matchOf, WATCH_DESCRIPTION),
      events: subscription(EventMessage, eventOf, EVENTS_DESCRIPTION)
    }
  }
}

/** `void` lets clients omit an argument without fields, or with optional fields only. */
type InputOf<I> = keyof I extends never ? void : Record<never, never> extends I ? I | void : I

/** Checks the limit on requests and the scope before the input. */
const withScope = (needed: Scope) =>
  t.procedure.use(async ({ ctx, next }) => {
    if (ctx.calls.begun++ > 0) await runOrThrow(ctx.runtime, admitCall(ctx.caller.account), undefined)
    const allowed = checkScope(ctx.caller, needed)
    if (Either.isLeft(allowed)) throw toTrpc(allowed.left)
    return next()
  })

type Nouns = typeof contracts & typeof contractsOfPlatforms

/** Not `readonly`, which clients would see in the types that they infer. */
type Procedures = {
  [Noun in keyof Nouns]: {
    -readonly [Name in keyof Nouns[Noun]]: ProcedureOf<Nouns[Noun][Name]>
  }
}

/** As `changesState` says. */
type ProcedureOf<C> =
  C extends Contract<infer _A, infer I, infer _O, infer OI, infer M, infer S>
    ? [M, S] extends ["POST", Exclude<Scope, "read">]
      ? TRPCMutationProcedure<{ input: InputOf<Types.Simplify<I & KeyField>>; output: OI; meta: Meta }>
      : TRPCQueryProcedure<{ input: InputOf<I>; output: OI; meta: Meta }>
    : never

const procedures = (schemas: PlatformSchemas, named: NamedSchemas) => ({
  ofContract: (contract: AnyContract) => {
    const isMutation = changesState(contract)
    const input = schemas(isMutation ? keyedInput(contract.input) : contract.input)
    const output = schemas(contract.output)
    const { name, method, path, tag, summary, description } = contract
    const openapi = { operationId: name, method, path, tags: [tag], summary, description }
    const procedure = withScope(contract.scope)
      .input(zodInput(input, named, isPaged(contract) ? withoutDirection : undefined))
      .output(zodOutput(output, named))
      .meta({ input, output, description: `${summary}. ${description}`, openapi })
    return isMutation ? procedure.mutation(resolver(contract)) : procedure.query(resolver(contract))
  },

  /** `dataOf`: undefined for an update that is not sent. */
  subscription: <A, I>(
    message: Schema.Schema<A, I>,
    dataOf: DataOf,
    description: string
  ): TRPCSubscriptionProcedure<{
    input: InputOf<typeof WatchInput.Encoded>
    output: AsyncIterable<I, void, unknown>
    meta: Meta
  }> => {
    const [input, output] = [schemas(WatchInput), schemas(message)]
    const procedure = withScope("read").meta({ input, output, description }).input(zodInput(input, named))
    return procedure.subscription((request) => resolveWatch(request, dataOf)) as never
  }
})

const isPaged = ({ input }: AnyContract): boolean =>
  SchemaAST.getPropertySignatures(SchemaAST.encodedAST(input.ast)).some(({ name }) => name === "cursor")

/** `infiniteQueryOptions` of TanStack Query adds the direction in which it reads pages. They have only this one. */
const withoutDirection = (data: unknown): unknown =>
  Predicate.hasProperty(data, "direction") && data.direction === "forward" ? Struct.omit(data, "direction") : data

const resolver =
  (contract: AnyContract) =>
  async ({ ctx, input, signal }: Resolved): Promise<unknown> => {
    // `input` was decoded with the schema of the contract, and for a mutation with the field of the key.
    const effect = Effect.tapErrorCause(
      asActor(ctx.caller, perform(contract, ctx.caller.account, splitKey(input))),
      (cause) => (Cause.isDie(cause) ? Effect.logError(`${contract.name} failed`, cause) : Effect.void)
    )
    const { answer, isReplayed } = await runOrThrow(ctx.runtime, effect, signal)
    if (isReplayed) ctx.setReplayed()
    if (contract.pagedField === undefined) return answer
    const long = longAnswer(contract, ctx.caller.account, { input, answer })
    const further = await runOrThrow(ctx.runtime, long, signal)
    return Option.isNone(further) ? answer : ctx.splicer.mark(further.value)
  }
