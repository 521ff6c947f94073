/** The lines of X's stream: posts, keep-alives, and word that the stream ends. */
import { type JsonObject, jsonOf, objectOf, objectsOf, textOf } from "../../core/syntax/json.ts"
import { type Problem, problemIn } from "./problems.ts"

/** A post that met rules. */
export interface PostRecord {
  readonly kind: "post"
  readonly postId: string
  readonly ruleIds: ReadonlyArray<string>
  /** As it was sent, without what it says about rules: those of others are nobody's business. */
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
  // Wrapped in `errors` or bare: both have been seen.
  const problem = objectsOf(record["errors"])[0] ?? record
  const isProblem = ["title", "type", "disconnect_type", "connection_issue"].some((key) => textOf(problem[key]))
  return isProblem ? endOf(problem) : { kind: "unreadable" }
}

// ---- helpers ----

/** It may come with `errors` on parts of it that could not be filled in: that is no end of the stream. */
const postOf = (data: JsonObject, { includes, matching_rules }: JsonObject): Line => {
  const postId = textOf(data["id"])
  if (postId === undefined) return { kind: "unreadable" }
  const ruleIds = objectsOf(matching_rules).flatMap((rule) => textOf(rule["id"]) ?? [])
  return { kind: "post", postId, ruleIds, payload: { data, ...(includes !== undefined && { includes }) } }
}

const endOf = (body: JsonObject): Line => {
  const problem = problemIn(body)
  const name = textOf(body["disconnect_type"]) ?? problem.connectionIssue ?? problem.title
  const words = [name, problem.words].filter((part) => part !== "").join(": ")
  return { kind: "end", problem, reason: `It ended the stream${words === "" ? "" : ` (${words})`}` }
}
