/** The rule endpoints of a tap, and query validation. */
import { Either, ParseResult, Schema } from "effect"
import { optional } from "../../core/model/optional.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import { blockingIssues } from "../blockingIssues.ts"
import type { Settings } from "../settings.ts"
import { jsonReply, parseJson, type Reply } from "../wire.ts"
import type { TapCall } from "./calls.ts"
import { failure, notFound, unprocessable } from "./errors.ts"
import type { FirehoseState } from "./FirehoseState.ts"
import type { FirehoseRule, Tap } from "./Tap.ts"

export const listRules = ({ tap }: TapCall): Reply =>
  jsonReply(200, { data: [...tap.rules.values()], meta: { count: tap.rules.size } })

export const getRule = ({ state, tap, id }: TapCall): Reply =>
  withRule(state, tap, id, (rule) => jsonReply(200, { data: rule }))

export const createRule = ({ state, tap, call }: TapCall): Reply => {
  const { world } = state
  const body = decodeBody(RuleBody, call.body, world.settings)
  if (Either.isLeft(body)) return body.left
  const { value, tag, nsfw = false, quality = true } = body.right
  if (value === undefined) return unprocessable(world.settings, "value", "The value field is required.")
  const expression = parseRule(state, tap, value)
  if (Either.isLeft(expression)) return expression.left
  const { cap, isLowered } = state.ruleCap(call.now)
  if (state.ruleCount >= cap) {
    if (isLowered) world.faults.take("lower-caps", { platform: "firehose", now: call.now })
    return failure(world.settings, 422, `Rule limit reached: your organization may have ${cap} rules.`)
  }
  const rule = { id: world.uuid(), value, ...(tag !== undefined && { tag }), nsfw, quality }
  tap.setRule(rule, expression.right)
  return jsonReply(201, { data: rule })
}

export const updateRule = ({ state, tap, id, call }: TapCall): Reply =>
  withRule(state, tap, id, (rule) => {
    const body = decodeBody(RuleBody, call.body === "" ? "{}" : call.body, state.world.settings)
    if (Either.isLeft(body)) return body.left
    const changed = { ...rule, ...body.right }
    const expression = parseRule(state, tap, changed.value, rule)
    if (Either.isLeft(expression)) return expression.left
    tap.setRule(changed, expression.right)
    return jsonReply(200, { data: changed })
  })

export const deleteRule = ({ state, tap, id }: TapCall): Reply =>
  withRule(state, tap, id, () => {
    tap.deleteRule(id)
    state.world.notify()
    return { status: 204, headers: {}, body: null }
  })

export const validate = (state: FirehoseState, text: string): Reply => {
  const body = decodeBody(QueryBody, text, state.world.settings)
  if (Either.isLeft(body)) return body.left
  const { rule, issues } = state.check(body.right.value)
  const isValid =
    rule !== undefined && blockingIssues(issues, state.world.settings.firehose.refused_warnings).length === 0
  const diagnostics = issues.map(({ severity, message, span }) => ({ severity, message, ...span }))
  return jsonReply(200, {
    data: { valid: isValid, diagnostics, ...(isValid && { compiled: rule.canonical }) }
  })
}

// ---- helpers ----

const RuleBody = Schema.Struct({
  value: optional(Schema.String),
  tag: optional(Schema.String.pipe(Schema.maxLength(255))),
  nsfw: optional(Schema.Boolean),
  quality: optional(Schema.Boolean)
})

const QueryBody = Schema.Struct({ value: Schema.String })

const decodeBody = <A, I>(schema: Schema.Schema<A, I>, text: string, settings: Settings): Either.Either<A, Reply> => {
  const parsed = parseJson(text)
  if (parsed === undefined) return Either.left(failure(settings, 422, "The request body is not valid JSON."))
  return Either.mapLeft(Schema.decodeUnknownEither(schema, { onExcessProperty: "error" })(parsed.value), (error) => {
    const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
    const field = String(issue?.path[0] ?? "body")
    return unprocessable(settings, field, `The ${field} field is invalid: ${issue?.message ?? "unknown"}.`)
  })
}

const parseRule = (
  state: FirehoseState,
  tap: Tap,
  value: string,
  self?: FirehoseRule
): Either.Either<Expression, Reply> => {
  const { settings } = state.world
  const { rule, issues } = state.check(value)
  const blocking = blockingIssues(issues, settings.firehose.refused_warnings)
  if (rule === undefined || blocking.length > 0) {
    const messages = blocking.map(({ message }) => `${message}.`)
    return Either.left(failure(settings, 422, messages[0] ?? "Invalid query.", { errors: { value: messages } }))
  }
  const isDuplicate = [...tap.rules.values()].some((other) => other.value === value && other.id !== self?.id)
  return isDuplicate && settings.firehose.duplicates === "refused"
    ? Either.left(unprocessable(settings, "value", "The value has already been taken."))
    : Either.right(rule.expression)
}

const withRule = (state: FirehoseState, tap: Tap, id: string, use: (rule: FirehoseRule) => Reply): Reply => {
  const rule = tap.rules.get(id)
  return rule === undefined ? notFound(state.world.settings) : use(rule)
}
