/** The contracts of all operations, by noun. A procedure of the tRPC router has the name of its contract here. */
import { account } from "./account.ts"
import type { AnyContract } from "./Contract.ts"
import { grants } from "./grants.ts"
import { keys } from "./keys.ts"
import { matches } from "./matches.ts"
import { platforms } from "./platforms.ts"
import { rules } from "./rules.ts"
import { webhooks } from "./webhooks.ts"

export const contracts = { rules, matches, platforms, webhooks, account, keys, grants }

export const allContracts: ReadonlyArray<AnyContract> = Object.values(contracts).flatMap((group) =>
  Object.values<AnyContract>(group)
)
