/** A REST client, with assertions on every response. */
import { assert } from "@effect/vitest"
import { allContracts } from "../../api/contracts.ts"
import type { Address } from "./raw.ts"

/** The server under test, with a valid key. */
export interface Target extends Address {
  readonly url: string
  readonly key: string
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Json
}

/** Parsed JSON with access by name. */
export type Json = { readonly [name: string]: Json } & Iterable<Json>

/** The method and the path of every operation. */
export const OPERATIONS = allContracts.map(({ method, path }) => [method, path] as const)

export const POST_PATHS: ReadonlyArray<string> = OPERATIONS.flatMap(([method, path]) =>
  method === "POST" ? [path] : []
)

/** Sends JSON with the key of the target. `init` overrides the defaults. */
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

/** Checks the headers that every response has. */
export const answerOf = async (response: Response): Promise<Answer> => {
  assert.strictEqual(response.headers.get("content-type"), "application/json")
  assert.match(response.headers.get("x-request-id") ?? "", /^[\w.:-]{1,128}$/)
  assert.strictEqual(response.headers.get("x-content-type-options"), "nosniff")
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) as Json }
}

/** Checks the documented error shape: exactly these three fields. */
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

/** A valid rule, by default with a word that no other test uses. */
export const draft = (words = `word${++drafts}`, platforms: ReadonlyArray<"x" | "firehose"> = ["firehose"]) => ({
  name: "Test",
  intent: "Show that it works",
  platforms,
  overrides: Object.fromEntries(platforms.map((platform) => [platform, words]))
})

export const xPost = (id: string, text: string) => ({ data: { id, text } })

/** A page to which this text was added. */
export const firehoseUpdate = (url: string, text: string) => ({
  document: { url, diff: { chunks: [{ typ: "ins", text }] } }
})

// ---- helpers ----

let drafts = 0
