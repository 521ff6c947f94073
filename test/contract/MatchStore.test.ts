import { everyStore } from "../stores.ts"
import { matchCountsContract } from "./matchCountsContract.ts"
import { matchStoreContract, trimContract } from "./matchStoreContract.ts"
import { redactContract } from "./redactContract.ts"

for (const [name, layer] of everyStore) {
  matchStoreContract(name, layer)
  trimContract(name, layer)
  redactContract(name, layer)
  matchCountsContract(name, layer)
}
