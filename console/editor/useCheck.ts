/** Checks a filter while it is written. */
import { useQuery } from "@tanstack/react-query"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { type Answers, type Problem, problemOf, useTRPC } from "../client.ts"

export type CheckedFilter = Answers["rules"]["check"]["platforms"][string]

export interface FilterCheck {
  /** The text that was checked. While a newer one is being checked, this is an older one. */
  readonly text: string
  /** Absent for an empty filter, and before the first answer. */
  readonly result?: CheckedFilter
  readonly problem?: Problem
}

export const useCheck = (platform: string, text: string): FilterCheck => {
  const settled = useSettled(text)
  const isEmpty = settled.trim() === ""
  const { data, error } = useQuery({
    ...useTRPC().rules.check.queryOptions({ overrides: { [platform]: settled } }),
    enabled: !isEmpty,
    staleTime: 60_000
  })
  const last = useRef<FilterCheck>({ text: "" })
  last.current = useMemo(() => {
    if (isEmpty) return { text: settled }
    if (error !== null) return { text: settled, problem: problemOf(error) }
    const result = data?.platforms[platform]
    return result === undefined ? last.current : { text: settled, result }
  }, [settled, data, error])
  return last.current
}

// ---- helpers ----

const DELAY_MILLIS = 300

/** The text, once it has not changed for a moment. */
const useSettled = (text: string): string => {
  const [settled, settle] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => settle(text), DELAY_MILLIS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
