/** The REST routes of all operations. */
import { Effect, Either, Option, SchemaAST } from "effect"
import { type AnyContract, changesState } from "../../api/Contract.ts"
import { allContractsWith } from "../../api/contracts.ts"
import type { PlatformSchemas } from "../../api/platformSchemas.ts"
import type { AccountId } from "../../core/model/Ids.ts"
import { decoder } from "../decode.ts"
import type { Services } from "../operations/Handlers.ts"
import { keyOf } from "../operations/idempotency.ts"
import { bodyOf, longAnswer } from "../operations/pages.ts"
import { perform } from "../operations/perform.ts"
import { readJson } from "./body.ts"
import { type KeyedRoute, replyOf, type Work } from "./route.ts"

export const restRoutes = (schemas: PlatformSchemas): ReadonlyArray<KeyedRoute<Services>> =>
  allContractsWith(schemas.platforms ?? []).map((contract) => routeOf(contract, schemas))

/** The query parameters. A repeated one becomes an array, which the decoder refuses. */
export const queryOf = (request: Request): Readonly<Record<string, string | ReadonlyArray<string>>> => {
  const start = request.url.indexOf("?")
  if (start < 0) return {}
  const params = new URLSearchParams(request.url.slice(start + 1))
  const query = new Map<string, string | Array<string>>()
  for (const [name, value] of params) {
    const before = query.get(name)
    if (Array.isArray(before)) before.push(value)
    else query.set(name, before === undefined ? value : [before, value])
  }
  return Object.fromEntries(query)
}

// ---- helpers ----

function routeOf(contract: AnyContract, schemas: PlatformSchemas): KeyedRoute<Services> {
  const { method, path, scope, showsLimits = false } = contract
  const decode = decoder(schemas(contract.input))
  const allIsOptional = contract.needsFields !== true && Either.isRight(decode({}))
  const toWork = (data: unknown, key: Option.Option<string>) =>
    Either.map(
      decode(data),
      (input): Work<Services> =>
        ({ account }) =>
          contract.pagedField === undefined
            ? Effect.map(perform(contract, account, { input, key }), replyOf)
            : replyInPages(contract, account, input)
    )
  const readBody = async (request: Request) => {
    const key = changesState(contract) ? keyOf(request) : NO_KEY
    if (Either.isLeft(key)) return Either.left(key.left)
    return Either.flatMap(await readJson(request, { allIsOptional }), (data) => toWork(data, key.right))
  }
  const kinds = kindsOf(contract)
  const readQuery = (request: Request) => toWork(withValues(queryOf(request), kinds), Option.none())
  return { method, path, scope, showsLimits, read: method === "GET" ? readQuery : readBody }
}

const replyInPages = (contract: AnyContract, account: AccountId, input: unknown) =>
  Effect.gen(function* () {
    const answered = yield* perform(contract, account, { input, key: Option.none() })
    const long = yield* longAnswer(contract, account, { input, answer: answered.answer })
    const reply = replyOf(answered)
    return Option.isNone(long) ? reply : { ...reply, body: bodyOf(long.value) }
  })

/** The fields that are not texts. */
const kindsOf = ({ input }: AnyContract): ReadonlyArray<readonly [string, Kind]> =>
  SchemaAST.getPropertySignatures(SchemaAST.encodedAST(input.ast)).flatMap(({ name, type }) => {
    const kind = SchemaAST.isNumberKeyword(type) ? NUMBER : SchemaAST.isBooleanKeyword(type) ? BOOLEAN : undefined
    return kind === undefined ? [] : [[String(name), kind] as const]
  })

interface Kind {
  readonly form: RegExp
  readonly read: (text: string) => unknown
}

const NUMBER: Kind = { form: /^-?\d{1,15}$/, read: Number }
const BOOLEAN: Kind = { form: /^(true|false)$/, read: (text) => text === "true" }

/** In a query every value is a text. The decoder refuses a text of another form. */
const withValues = (query: Query, kinds: ReturnType<typeof kindsOf>): Readonly<Record<string, unknown>> => {
  const given = kinds.filter(([name, { form }]) => form.test(String(query[name])))
  return given.length === 0
    ? query
    : { ...query, ...Object.fromEntries(given.map(([name, { read }]) => [name, read(String(query[name]))])) }
}

type Query = ReturnType<typeof queryOf>

const NO_KEY = Either.right(Option.none<string>())
