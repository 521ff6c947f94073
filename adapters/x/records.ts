/** Parses lines of X's stream: posts, keep-alives, and problems that end the stream. */
import { type JsonObject, jsonOf, objectOf, objectsOf, textOf } from "../../core/text/json.ts"
import { type Problem, problemIn } from "./problems.ts"

export interface PostRecord {
  readonly kind: "post"
  readonly postId: string
  readonly ruleIds: ReadonlyArray<string>
  /** As sent, without `matching_rules`: those can name rules of other deployments. */
  readonly payload: Record<string, unknown>
}

export type Line =
  | PostRecord
  | { readonly kind: "keep-alive" }
  | { readonly kind: "end"; readonly reason: string; readonly problem: Problem }
  | { readonly kind: "unreadable" }

export const readLine = (line: string): Line => {
  if (line.trim() === "") return { kind: "keep-alive" }
  const record = objectOf(jsonOf(line)) ?? {}
  const data = objectOf(record["data"])
  if (data !== undefined) return postOf(data, record)
  // X sends problems both wrapped in `errors` and bare.
  const problem = objectsOf(record["errors"])[0] ?? record
  const isProblem = ["title", "type", "disconnect_type", "connection_issue"].some((key) => textOf(problem[key]))
  return isProblem ? endOf(problem) : { kind: "unreadable" }
}

// ---- helpers ----

/** Ignores `errors`: on a post they name parts that X could not expand, and do not end the stream. */
const postOf = (data: JsonObject, { includes, matching_rules }: JsonObject): Line => {
  const postId = textOf(data["id"])
  if (postId === undefined) return { kind: "unreadable" }
  const ruleIds = objectsOf(matching_rules).flatMap((rule) => textOf(rule["id"]) ?? [])
  return { kind: "post", postId, ruleIds, payload: { data, ...(includes !== undefined && { includes }) } }
}

const endOf = (body: JsonObject): Line => {
  const problem = problemIn(body)
  const name = textOf(body["disconnect_type"]) ?? problem.connectionIssue ?? problem.title
  const detail = [name, problem.detail].filter((part) => part !== "").join(": ")
  return { kind: "end", problem, reason: `X ended the stream${detail === "" ? "" : ` (${detail})`}` }
}
