import { everyStore } from "../stores.ts"
import { ruleChangesContract } from "./ruleChangesContract.ts"

for (const [name, layer] of everyStore) ruleChangesContract(name, layer)
