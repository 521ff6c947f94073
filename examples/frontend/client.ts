/** A typed client of Earshot. All types come from the router. */
import { createTRPCClient, httpLink, httpSubscriptionLink, splitLink } from "@trpc/client"
import type { AppRouter } from "../../gateway/trpc/router.ts"

export type Client = ReturnType<typeof connect>

/** `url` is the address of the server's `/trpc`. */
export const connect = (url: string, key: string) => {
  const authorization = `Bearer ${key}`
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: ({ type }) => type === "subscription",
        // A browser's EventSource sends no headers, so tRPC sends the key in the URL.
        true: httpSubscriptionLink({ url, connectionParams: { authorization } }),
        false: httpLink({ url, headers: { authorization } })
      })
    ]
  })
}
