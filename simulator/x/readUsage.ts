/** GET usage. */
import { jsonReply, type Reply } from "../wire.ts"
import { planOf } from "./plan.ts"
import { CLIENT_APP_ID, PROJECT_ID } from "./problems.ts"
import type { XCall } from "./XCall.ts"

export const readUsage = ({ state, call, refuse }: XCall): Reply => {
  const { settings } = state.world
  const text = call.query.get("days") ?? "7"
  const days = Number(text)
  if (!/^\d{1,2}$/.test(text) || days < 1 || days > 90) {
    return refuse("days", `The \`days\` query parameter value [${text}] is not between 1 and 90`)
  }
  const perDay = state.usage.perDay(days, call.now)
  return jsonReply(200, {
    data: {
      cap_reset_day: 1,
      project_cap: String(settings.x.usage_cap ?? settings.x.credits ?? planOf(settings).monthlyPosts),
      project_id: PROJECT_ID,
      project_usage: String(state.usage.sinceReset(call.now)),
      daily_project_usage: { project_id: PROJECT_ID, usage: perDay },
      daily_client_app_usage: [{ client_app_id: CLIENT_APP_ID, usage_result_count: perDay.length, usage: perDay }]
    }
  })
}
