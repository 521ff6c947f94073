/** A caller of the REST endpoints, and what every answer of theirs has in common. */
import { assert } from "@effect/vitest"
import type { Address } from "./raw.ts"

/** A server that is being tested, and a key that it takes. */
export interface Target extends Address {
  readonly url: string
  readonly key: string
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Json
}

/** Parsed JSON, looked into by name: what is missing is undefined all the way down. */
export type Json = { readonly [name: string]: Json } & Iterable<Json>

export const OPERATIONS = [
  ["POST", "/api.CreateRule"],
  ["GET", "/api.ListRules"],
  ["POST", "/api.DeleteRule"],
  ["POST", "/rules/check"],
  ["POST", "/matches"],
  ["POST", "/matches/wait"],
  ["POST", "/platforms/syntax"]
] as const

export const POST_PATHS: ReadonlyArray<string> = OPERATIONS.flatMap(([method, path]) =>
  method === "POST" ? [path] : []
)

/** Sends JSON with the key of the target; `init` overrides any of it. */
export const call = async (target: Target, path: string, body?: unknown, init: RequestInit = {}): Promise<Answer> => {
  const sent: RequestInit = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
  const headers = new Headers({
    authorization: `Bearer ${target.key}`,
    ...(body === undefined ? {} : { "content-type": "application/json" })
  })
  new Headers(init.headers).forEach((value, name) => {
    headers.set(name, value)
  })
  return answerOf(await fetch(target.url + path, { ...sent, ...init, headers }))
}

/** Every answer, good or bad, is JSON and carries a request id. */
export const answerOf = async (response: Response): Promise<Answer> => {
  assert.strictEqual(response.headers.get("content-type"), "application/json")
  assert.match(response.headers.get("x-request-id") ?? "", /^[\w.:-]{1,128}$/)
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) as Json }
}

/** The documented shape of an error: these three fields and no others. */
export const assertError = (
  answer: { readonly status: number; readonly body: unknown },
  status: number,
  code: string,
  message?: RegExp
): void => {
  const body = answer.body as Record<string, unknown>
  assert.deepStrictEqual(
    [answer.status, body["code"], Object.keys(body)],
    [status, code, ["code", "message", "details"]],
    JSON.stringify(body)
  )
  const details = body["details"]
  assert.isTrue(typeof details === "object" && details !== null && !Array.isArray(details), "details is an object")
  assert.isString(body["message"])
  if (message !== undefined) assert.match(String(body["message"]), message)
}

/** A rule that any service accepts, with words that no other test looks for. */
export const draft = (words = `word${++drafts}`, platforms: ReadonlyArray<"x" | "firehose"> = ["firehose"]) => ({
  name: "Test",
  intent: "Show that it works",
  platforms,
  overrides: Object.fromEntries(platforms.map((platform) => [platform, words]))
})

export const xPost = (id: string, text: string) => ({ data: { id, text } })

/** A page that has just gained this text. */
export const firehoseUpdate = (url: string, text: string) => ({
  document: { url, diff: { chunks: [{ typ: "ins", text }] } }
})

// ---- helpers ----

let drafts = 0
