import { everyStore } from "../stores.ts"
import { matchStoreContract } from "./matchStoreContract.ts"

for (const [name, layer] of everyStore) matchStoreContract(name, layer)
