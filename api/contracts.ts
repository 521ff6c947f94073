/** The contracts of all operations, by noun. A procedure of the tRPC router has the name of its contract here. */
import type { PlatformId } from "../core/model/PlatformId.ts"
import { account } from "./account.ts"
import type { AnyContract } from "./Contract.ts"
import { feeds } from "./feeds.ts"
import { grants } from "./grants.ts"
import { keys } from "./keys.ts"
import { matches } from "./matches.ts"
import { platforms } from "./platforms.ts"
import { rules } from "./rules.ts"
import { webhooks } from "./webhooks.ts"

/** Of every server. */
export const contracts = { rules, matches, platforms, webhooks, account, keys, grants }

/** Of servers that have the platform which the contracts name. */
export const contractsOfPlatforms = { feeds }

export const allContracts: ReadonlyArray<AnyContract> = listed(contracts)

/** The contracts of a server with these platforms, by noun. */
export const contractsWith = (platforms: ReadonlyArray<PlatformId>): Nouns => ({
  ...contracts,
  ...Object.fromEntries(
    Object.entries<Nouns[string]>(contractsOfPlatforms).filter(([, group]) =>
      Object.values(group).every(({ platform }) => platform !== undefined && platforms.includes(platform))
    )
  )
})

export const allContractsWith = (platforms: ReadonlyArray<PlatformId>): ReadonlyArray<AnyContract> =>
  listed(contractsWith(platforms))

// ---- helpers ----

type Nouns = Readonly<Record<string, Readonly<Record<string, AnyContract>>>>

function listed(nouns: Nouns): ReadonlyArray<AnyContract> {
  return Object.values(nouns).flatMap((group) => Object.values(group))
}
