import { everyStore } from "../stores.ts"
import { ruleStoreContract } from "./ruleStoreContract.ts"

for (const [name, layer] of everyStore) ruleStoreContract(name, layer)
