/** POST rules: adds or deletes rules, optionally as a dry run. */
import { Either, ParseResult, Schema } from "effect"
import { optional } from "../../core/model/optional.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import type { Settings } from "../settings.ts"
import { jsonReply, parseJson, type Reply } from "../wire.ts"
import { ruleJson } from "./listRules.ts"
import {
  duplicateRule,
  invalidRequest,
  invalidRequestBody,
  invalidRule,
  plainProblem,
  rulesCapExceeded
} from "./problems.ts"
import type { XCall } from "./XCall.ts"
import type { XRule, XState } from "./XState.ts"

export const updateRules = (xCall: XCall): Reply => {
  const { state, call } = xCall
  const { settings } = state.world
  const refuse = (message: string, parameters = {}) => invalidRequest(settings, { message, parameters })
  if (new TextEncoder().encode(call.body).length > settings.x.max_body_bytes) {
    return plainProblem(413, "Payload Too Large")
  }
  if (!/^application\/json\b/i.test(call.headers.get("content-type") ?? "")) {
    return refuse("The `Content-Type` header must be application/json")
  }
  for (const name of ["dry_run", "delete_all"]) {
    const value = call.query.get(name)
    if (value !== null && value !== "true" && value !== "false") {
      return refuse(`The \`${name}\` query parameter value [${value}] is not true or false`, { [name]: [value] })
    }
  }
  const isDeleteAll = call.query.get("delete_all") === "true"
  const parsed = parseJson(call.body === "" && isDeleteAll ? "{}" : call.body)
  if (parsed === undefined) return refuse("Request body is not valid JSON")
  const decoded = decodeBody(parsed.value)
  if (Either.isLeft(decoded)) return refuse(decoded.left)
  const { add, delete: removal } = decoded.right
  const isDryRun = call.query.get("dry_run") === "true"
  if (isDeleteAll) {
    return add === undefined && removal === undefined && !call.query.has("dry_run")
      ? deleteAll(xCall)
      : refuse("`delete_all` must be used with no other parameter")
  }
  if ((add === undefined) === (removal === undefined)) return refuse("Exactly one of `add` and `delete` must be given")
  if (removal !== undefined) return deleteRules(xCall, removal, isDryRun)
  return addRules(xCall, add ?? [], isDryRun)
}

// ---- helpers ----

const NewRule = Schema.Struct({ value: Schema.String, tag: optional(Schema.String) })
type NewRule = typeof NewRule.Type

const Removal = Schema.Struct({
  ids: optional(Schema.Array(Schema.String)),
  values: optional(Schema.Array(Schema.String))
})
type Removal = typeof Removal.Type

const Body = Schema.Struct({
  add: optional(Schema.NonEmptyArray(NewRule)),
  delete: optional(Removal)
})

const decodeBody = (value: unknown): Either.Either<typeof Body.Type, string> =>
  Either.mapLeft(Schema.decodeUnknownEither(Body, { onExcessProperty: "error" })(value), (error) => {
    const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
    return `$${issue?.path.map((part) => `.${String(part)}`).join("") ?? ""}: ${issue?.message ?? "is not valid"}`
  })

const sentAt = ({ state, call }: XCall): string => new Date(state.world.reportedTime("x", call.now)).toISOString()

const deleteAll = (xCall: XCall): Reply => {
  const { state } = xCall
  const deleted = state.rules.size
  state.dropRules()
  return jsonReply(200, { meta: { sent: sentAt(xCall), summary: { deleted, not_deleted: 0 } } })
}

const deleteRules = (xCall: XCall, { ids = [], values = [] }: Removal, isDryRun: boolean): Reply => {
  const { state } = xCall
  const { settings } = state.world
  if (ids.length + values.length === 0) {
    return invalidRequest(settings, { message: "`delete` needs `ids` or `values`", parameters: {} })
  }
  const byValue = new Map([...state.rules.values()].map(({ value, id }) => [value, id]))
  const missing: Array<readonly [name: string, value: string]> = []
  const found = new Set<string>()
  for (const id of ids) {
    if (state.rules.has(id)) found.add(id)
    else missing.push(["ids", id])
  }
  for (const value of values) {
    const id = byValue.get(value)
    if (id === undefined) missing.push(["values", value])
    else found.add(id)
  }
  const deleted = deletable([...found], settings)
  if (!isDryRun) for (const id of deleted) state.deleteRule(id)
  const errors = missing.map(([name, value]) =>
    invalidRequestBody(settings, [{ message: "Rule does not exist", parameters: { [name]: [value] } }])
  )
  const not_deleted = missing.length + found.size - deleted.length
  const meta = { sent: sentAt(xCall), summary: { deleted: deleted.length, not_deleted } }
  return jsonReply(200, { meta, ...(errors.length > 0 && { errors }) })
}

const deletable = (ids: ReadonlyArray<string>, { x }: Settings): ReadonlyArray<string> =>
  x.deletes === "all" ? ids : ids.slice(0, x.deletes === "none" ? 0 : Math.floor(ids.length / 2))

const addRules = (xCall: XCall, rules: ReadonlyArray<NewRule>, isDryRun: boolean): Reply => {
  const { state, call } = xCall
  const { world } = state
  const { x } = world.settings
  if (rules.length > x.max_rules_per_request) {
    const message = `\`add\` holds more than ${x.max_rules_per_request} rules`
    return invalidRequest(world.settings, { message, parameters: {} })
  }
  const longTag = rules.find(({ tag = "" }) => tag.length > x.max_tag_length)?.tag
  if (longTag !== undefined) {
    const message = `The tag is longer than ${x.max_tag_length} characters`
    return invalidRequest(world.settings, { message, parameters: { tag: [longTag] } })
  }

  const { accepted, invalid, duplicates } = classify(state, rules, call.now)
  const { cap, isLowered } = state.ruleCap(call.now)
  if (state.rules.size + accepted.length > cap) {
    if (isLowered) world.faults.take("lower-caps", { platform: "x", now: call.now })
    return rulesCapExceeded(world.settings, cap)
  }
  const created = x.atomic_invalid && invalid.length > 0 ? [] : accepted
  if (!isDryRun) for (const { rule, expression } of created) state.addRule(rule, expression)

  const data = created.map(({ rule }) => ruleJson(rule))
  const errors = [...invalid, ...duplicates]
  const body = {
    ...(data.length > 0 && { data: x.add_order === "reversed" ? data.toReversed() : data }),
    meta: {
      sent: sentAt(xCall),
      summary: {
        created: created.length,
        not_created: rules.length - created.length,
        valid: accepted.length,
        invalid: errors.length
      }
    },
    ...(errors.length > 0 && { errors })
  }
  const isOnlyDuplicates = created.length === 0 && invalid.length === 0
  return jsonReply(created.length > 0 ? 201 : isOnlyDuplicates ? x.all_duplicates_status : 200, body)
}

interface AcceptedRule {
  readonly rule: XRule
  readonly expression: Expression
}

/** A rule that occurs twice in the request is a duplicate too. */
const classify = (state: XState, rules: ReadonlyArray<NewRule>, now: number) => {
  const { settings } = state.world
  const keyOf = ({ value, canonical }: Pick<XRule, "value" | "canonical">) =>
    settings.x.duplicate_check === "exact" ? value : canonical
  const existing = new Map([...state.rules.values()].map((rule) => [keyOf(rule), rule.id]))
  const accepted: Array<AcceptedRule> = []
  const invalid: Array<ReturnType<typeof invalidRule>> = []
  const duplicates: Array<ReturnType<typeof duplicateRule>> = []
  for (const { value, tag } of rules) {
    const checked = state.check(value)
    if ("details" in checked) {
      invalid.push(invalidRule(settings, value, checked.details))
      continue
    }
    const { canonical, expression } = checked
    const duplicateOf = existing.get(keyOf({ value, canonical }))
    if (duplicateOf !== undefined) {
      duplicates.push(duplicateRule(settings, { value, id: duplicateOf }))
      continue
    }
    const id = state.newRuleId(now)
    existing.set(keyOf({ value, canonical }), id)
    const activeAt = now + settings.x.rule_delay_seconds * 1_000
    accepted.push({ rule: { id, value, ...(tag !== undefined && { tag }), canonical, activeAt }, expression })
  }
  return { accepted, invalid, duplicates }
}
