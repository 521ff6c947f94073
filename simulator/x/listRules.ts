/** GET rules and rules/counts. */
import { jsonReply, type Reply } from "../wire.ts"
import { planOf } from "./plan.ts"
import { CLIENT_APP_ID, invalidRequest } from "./problems.ts"
import type { XCall } from "./XCall.ts"
import type { XRule } from "./XState.ts"

export const listRules = ({ state, call, refuse }: XCall): Reply => {
  const { world } = state
  const ids = call.query.get("ids")?.split(",")
  if (ids !== undefined && (ids.length > 1_000 || ids.some((id) => !/^[0-9]{1,19}$/.test(id)))) {
    return refuse("ids", "The `ids` query parameter takes 1 to 1000 rule ids of 1 to 19 digits")
  }
  const max = Number(call.query.get("max_results") ?? "1000")
  if (!Number.isInteger(max) || max < 1 || max > 1_000) {
    return refuse(
      "max_results",
      `The \`max_results\` query parameter value [${call.query.get("max_results")}] is not between 1 and 1000`
    )
  }
  const token = call.query.get("pagination_token")
  if (token !== null && !/^[0-9A-V]{16}$/.test(token)) {
    return refuse("pagination_token", "The `pagination_token` query parameter is not valid")
  }
  const start = token === null ? 0 : Number.parseInt(token, 32)
  const rules = [...state.rules.values()].filter(
    ({ id }) => ids === undefined || world.settings.x.ids_filter === "ignored" || ids.includes(id)
  )
  const page = rules.slice(start, start + max)
  const meta = {
    ...(world.settings.x.sends_meta_sent && { sent: new Date(world.reportedTime("x", call.now)).toISOString() }),
    result_count: page.length,
    ...(start + max < rules.length && { next_token: (start + max).toString(32).toUpperCase().padStart(16, "0") })
  }
  return jsonReply(200, page.length === 0 ? { meta } : { data: page.map(ruleJson), meta })
}

export const ruleJson = ({ id, value, tag }: Pick<XRule, "id" | "value" | "tag">) => ({
  id,
  value,
  ...(tag !== undefined && { tag })
})

const countFields = [
  "all_project_client_apps",
  "cap_per_client_app",
  "cap_per_project",
  "client_app_rules_count",
  "project_rules_count"
]

export const ruleCounts = ({ state, call }: XCall): Reply => {
  const { settings } = state.world
  const requested = call.query.get("rules_count.fields")?.split(",")
  const unknown = requested?.find((name) => !countFields.includes(name))
  if (unknown !== undefined) {
    const message = `The \`rules_count.fields\` query parameter value [${unknown}] is not one of [${countFields.join(",")}]`
    return invalidRequest(settings, { message, parameters: { "rules_count.fields": [unknown] } })
  }
  const number = (value: number) => (settings.x.counts_as === "strings" ? String(value) : value)
  const { cap, isLowered } = state.ruleCap(call.now)
  if (isLowered) state.world.faults.take("lower-caps", { platform: "x", now: call.now })
  const app = { client_app_id: CLIENT_APP_ID, rule_count: state.rules.size }
  const all = {
    cap_per_client_app: number(cap),
    cap_per_project: number(Math.min(planOf(settings).projectRuleCap, isLowered ? cap : Number.POSITIVE_INFINITY)),
    client_app_rules_count: app,
    project_rules_count: number(state.rules.size),
    all_project_client_apps: [app]
  }
  const shown = requested ?? countFields.filter((name) => name !== "all_project_client_apps")
  return jsonReply(200, { data: Object.fromEntries(Object.entries(all).filter(([name]) => shown.includes(name))) })
}
