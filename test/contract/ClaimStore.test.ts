import { everyStore } from "../stores.ts"
import { claimStoreContract } from "./claimStoreContract.ts"

for (const [name, layer] of everyStore) claimStoreContract(name, layer)
