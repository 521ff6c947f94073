/** Saves a draft: creates a rule, or changes the version of it that the draft began with. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useRef } from "preact/hooks"
import { type Problem, problemOf, type Rule, useTRPCClient } from "../client.ts"
import { type Draft, toCreate, toUpdate } from "./draft.ts"

/** What to save. Without a rule, a new one. */
export interface Saving {
  readonly draft: Draft
  readonly rule: Rule | undefined
  /** The version that the draft began with. */
  readonly version: number | undefined
}

export const useSave = (onSaved: (ruleId: string) => void) => {
  const client = useTRPCClient()
  const queryClient = useQueryClient()
  const attempt = useRef<{ readonly content: string; readonly key: string }>()

  /** The same for the same content until the service has answered: then a second request changes nothing. */
  const keyFor = (content: string): string => {
    if (attempt.current?.content !== content) attempt.current = { content, key: randomKey() }
    return attempt.current.key
  }

  return useMutation({
    mutationFn: async ({ draft, rule, version = rule?.version }: Saving): Promise<string> => {
      if (rule === undefined) {
        const request = toCreate(draft)
        const idempotency_key = keyFor(JSON.stringify(request))
        return (await client.rules.create.mutate({ ...request, idempotency_key })).rule_id
      }
      const request = { ...toUpdate(rule, draft), ...(version !== undefined && { expected_version: version }) }
      const idempotency_key = keyFor(JSON.stringify(request))
      return (await client.rules.update.mutate({ ...request, idempotency_key })).rule.id
    },
    onSuccess: async (ruleId) => {
      onSaved(ruleId)
      await queryClient.invalidateQueries()
    },
    onError: (error) => {
      if (isAnswer(problemOf(error))) attempt.current = undefined
    }
  })
}

/** The rule has another version than the draft began with. */
export const isConflict = ({ code, details }: Problem): boolean =>
  code === "aborted" && typeof details === "object" && details !== null && "version" in details

// ---- helpers ----

/** Not if the request may still be running. */
const isAnswer = (problem: Problem): boolean =>
  isConflict(problem) || (problem.code !== "unavailable" && problem.code !== "aborted")

/** `crypto.randomUUID` is missing on pages that are not served by HTTPS or localhost. */
const randomKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("")
