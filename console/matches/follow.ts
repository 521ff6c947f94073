/** Follows the live tail: connects again after a break, after the last message that it has. */
import type { useTRPCClient } from "../client.ts"
import { type Problem, problemOf } from "../client.ts"
import { cursorAt } from "./cursorAt.ts"
import type { queryOf } from "./filter.ts"
import type { MatchMessage, MatchPage } from "./tail.ts"

export type Client = ReturnType<typeof useTRPCClient>
export type Query = ReturnType<typeof queryOf>

export type Connection = "connecting" | "live" | "reconnecting"

export interface FollowOptions {
  readonly client: Client
  readonly query: Query
  readonly cursor: string
  readonly onMessage: (message: MatchMessage) => void
  readonly onConnection: (connection: Connection) => void
  /** The matches after the cursor are deleted: start again with the list. */
  readonly onExpired: () => void
  /** Trying again does not help. */
  readonly onProblem: (problem: Problem) => void
}

/** Returns a function that ends it. */
export const follow = (options: FollowOptions): (() => void) => {
  const { client, query, onMessage, onConnection } = options
  let cursor = options.cursor
  let isClosed = false
  let hasConnected = false
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let subscription: { readonly unsubscribe: () => void } | undefined

  const connect = () => {
    subscription = client.matches.events.subscribe(
      { ...query, cursor },
      {
        onConnectionStateChange: ({ state }) => {
          if (isClosed) return
          const isConnected = state === "pending"
          if (isConnected) [hasConnected, failures] = [true, 0]
          onConnection(isConnected ? "live" : hasConnected ? "reconnecting" : "connecting")
        },
        onData: (message) => {
          if (isClosed) return
          cursor = message.id
          onMessage(message)
        },
        onError: (error) => afterFailure(problemOf(error)),
        onComplete: () => afterFailure(ENDED)
      }
    )
  }

  /** The stream says only that it failed; the same request by another way says why. */
  const examine = async () => {
    try {
      await client.matches.wait.query({ ...query, cursor, timeout_seconds: 1, limit: 1 })
      if (!isClosed) connect()
    } catch (error) {
      afterFailure(problemOf(error))
    }
  }

  const afterFailure = (problem: Problem) => {
    if (isClosed) return
    if (problem.code === "failed_precondition") return options.onExpired()
    if (LASTING.includes(problem.code)) return options.onProblem(problem)
    onConnection("reconnecting")
    timer = setTimeout(examine, Math.min(FIRST_DELAY * 2 ** failures++, MAX_DELAY))
  }

  connect()
  return () => {
    isClosed = true
    clearTimeout(timer)
    subscription?.unsubscribe()
  }
}

/** The newest page, and the cursor with which the tail continues it. */
export const firstPage = async (
  client: Client,
  query: Query,
  before?: string
): Promise<{ readonly page: MatchPage; readonly cursor: string }> => {
  const list = () =>
    client.matches.list.query({ ...query, limit: PAGE, ...(before !== undefined && { cursor: before }) })
  const page = await list()
  const [newest] = page.matches
  if (newest !== undefined) return { page, cursor: newest.id }
  if (before !== undefined) return { page, cursor: before }
  // An empty list has no cursor. Matches between this one and the second list are in both, and not lost.
  const { cursor } = await client.matches.wait.query({ ...query, timeout_seconds: 1, limit: 1 })
  return { page: await list(), cursor }
}

/** The cursor of a list that ends at the time; none if the time is still to come. */
export const beforeOf = (to: string | undefined, now: number): string | undefined => {
  if (to === undefined) return undefined
  const time = Date.parse(to)
  return time > now ? undefined : cursorAt(time)
}

export const PAGE = 100

// ---- helpers ----

const FIRST_DELAY = 500
const MAX_DELAY = 10_000

/** Of the key, the rule or the request: they stay as they are. */
const LASTING = ["unauthenticated", "permission_denied", "not_found", "invalid_argument"]

const ENDED: Problem = { code: "unavailable", message: "The stream ended" }
