/** A typed client of Earshot: everything it knows of the API comes from the type of the router. */
import { createTRPCClient, httpLink, httpSubscriptionLink, splitLink } from "@trpc/client"
import type { AppRouter } from "../../gateway/trpc.ts"

export type Client = ReturnType<typeof connect>

/** `url` is where the server's `/trpc` is found, from here. */
export const connect = (url: string, key: string) => {
  const authorization = `Bearer ${key}`
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: ({ type }) => type === "subscription",
        // A browser's EventSource sends no headers: tRPC carries the key in the address.
        true: httpSubscriptionLink({ url, connectionParams: { authorization } }),
        false: httpLink({ url, headers: { authorization } })
      })
    ]
  })
}
