import { everyStore } from "../stores.ts"
import { matchStoreContract, trimContract } from "./matchStoreContract.ts"

for (const [name, layer] of everyStore) {
  matchStoreContract(name, layer)
  trimContract(name, layer)
}
