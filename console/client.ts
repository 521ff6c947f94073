/** The typed client of the service. The key travels in headers only, for live streams too. */
import { QueryClient } from "@tanstack/react-query"
import {
  createTRPCClient,
  httpBatchLink,
  httpSubscriptionLink,
  splitLink,
  type TRPCClient,
  TRPCClientError
} from "@trpc/client"
import type { inferRouterOutputs } from "@trpc/server"
import { createTRPCContext } from "@trpc/tanstack-react-query"
import { EventSource } from "eventsource"
import type { RouterOfPlatforms } from "../gateway/trpc/router.ts"

export const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<RouterOfPlatforms>()

export type Answers = inferRouterOutputs<RouterOfPlatforms>
export type Rule = Answers["rules"]["list"]["rules"][number]
export type Match = Answers["matches"]["list"]["matches"][number]
export type PlatformStatus = Answers["platforms"]["status"]["platforms"][number]

export const makeClient = (key: string): TRPCClient<RouterOfPlatforms> => {
  const authorization = `Bearer ${key}`
  return createTRPCClient<RouterOfPlatforms>({
    links: [
      splitLink({
        condition: ({ type }) => type === "subscription",
        true: httpSubscriptionLink({
          url: "/trpc",
          // The browser's own EventSource sends no headers.
          EventSource,
          eventSourceOptions: {
            fetch: (url, options) => fetch(url, { ...options, headers: { ...options.headers, authorization } })
          }
        }),
        // POST: filters can be longer than an address may be.
        false: httpBatchLink({ url: "/trpc", headers: { authorization }, methodOverride: "POST", maxItems: 20 })
      })
    ]
  })
}

export const makeQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // Our errors say what to do; only a server that cannot be reached is tried again.
        retry: (count, error) => count < 3 && problemOf(error).code === "unavailable"
      }
    }
  })

/** An error of the service, or of the way to it. */
export interface Problem {
  readonly code: string
  readonly message: string
  readonly details?: unknown
}

export const problemOf = (error: unknown): Problem => {
  if (!(error instanceof TRPCClientError)) return { code: "internal", message: String(error) }
  const data: unknown = error.data
  if (typeof data === "object" && data !== null && "code" in data && typeof data.code === "string") {
    return { code: data.code, message: error.message, ...("details" in data && { details: data.details }) }
  }
  return { code: "unavailable", message: "The server is not responding. Check that it is running, then try again." }
}
