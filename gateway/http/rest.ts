/** The REST routes of all operations. */
import { Effect, Either, Option, SchemaAST } from "effect"
import { type AnyContract, changesState } from "../../api/Contract.ts"
import { allContracts } from "../../api/contracts.ts"
import type { PlatformSchemas } from "../../api/platformSchemas.ts"
import type { AccountId } from "../../core/model/Ids.ts"
import { decoder } from "../decode.ts"
import { keyOf, replyOf } from "../idempotency.ts"
import type { Services } from "../operations/Handlers.ts"
import { bodyOf, longAnswer } from "../operations/pages.ts"
import { perform } from "../operations/perform.ts"
import { readJson } from "./body.ts"
import type { KeyedRoute, Work } from "./route.ts"

export const restRoutes = (schemas: PlatformSchemas): ReadonlyArray<KeyedRoute<Services>> =>
  allContracts.map((contract) => routeOf(contract, schemas))

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
  const numbers = numbersOf(contract)
  const readQuery = (request: Request) => toWork(withNumbers(queryOf(request), numbers), Option.none())
  return { method, path, scope, showsLimits, read: method === "GET" ? readQuery : readBody }
}

const replyInPages = (contract: AnyContract, account: AccountId, input: unknown) =>
  Effect.gen(function* () {
    const answered = yield* perform(contract, account, { input, key: Option.none() })
    const long = yield* longAnswer(contract, account, { input, answer: answered.answer })
    const reply = replyOf(answered)
    return Option.isNone(long) ? reply : { ...reply, body: bodyOf(long.value) }
  })

const numbersOf = ({ input }: AnyContract): ReadonlyArray<string> =>
  SchemaAST.getPropertySignatures(SchemaAST.encodedAST(input.ast))
    .filter(({ type }) => SchemaAST.isNumberKeyword(type))
    .map(({ name }) => String(name))

/** In a query every value is a text. The decoder refuses a text that is not a number. */
const withNumbers = (query: Query, names: ReadonlyArray<string>): Readonly<Record<string, unknown>> => {
  const given = names.filter((name) => /^-?\d{1,15}$/.test(String(query[name])))
  return given.length === 0
    ? query
    : { ...query, ...Object.fromEntries(given.map((name) => [name, Number(query[name])])) }
}

type Query = ReturnType<typeof queryOf>

const NO_KEY = Either.right(Option.none<string>())
