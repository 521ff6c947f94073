/** The operation on the account. */
import { Schema } from "effect"
import { Account } from "../core/accounts/Accounts.ts"
import { Scope } from "../core/keys/Key.ts"
import { contract } from "./Contract.ts"

export const account = {
  get: contract({
    method: "GET",
    path: "/account",
    name: "getAccount",
    scope: "read",
    showsLimits: true,
    tag: "account",
    summary: "Get the limits of the account",
    description:
      "The scope of the key, and each limit with what is used of it. Beyond a limit, requests fail with resource_exhausted; of stored matches the oldest are deleted. This request is answered even beyond the limit on requests, ten times per minute. The operator of the server can change the limits of an account.",
    input: Schema.Struct({}),
    output: Schema.Struct({
      ...Account.fields,
      scope: Scope
    }),
    example: {
      response: {
        id: "acct_01kzyn2b1se8q9w3n5y7h0v4dz",
        name: "default",
        scope: "admin",
        limits: [
          { name: "requests", description: "Requests per minute", limit: 600, used: 12, resets_in_seconds: 41 },
          { name: "webhooks", description: "Webhooks", limit: 20, used: 1 },
          { name: "rules.x", description: "Rules on x", limit: 25, used: 3 },
          { name: "rules.firehose", description: "Rules on firehose", limit: null, used: 7 }
        ]
      }
    }
  })
}
