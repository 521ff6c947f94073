/** Handles the operation on the account. */
import { Effect } from "effect"
import type { account } from "../../api/account.ts"
import { Accounts } from "../../core/accounts/Accounts.ts"
import { Actor } from "../../core/keys/Key.ts"
import type { Handlers } from "./Handlers.ts"

export const accountHandlers: Handlers<typeof account> = {
  get: (account) =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const { scope } = yield* Actor
      return { ...(yield* accounts.get(account)), scope }
    })
}
