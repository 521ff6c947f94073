import { everyStore } from "../stores.ts"
import { limitStoreContract } from "./limitStoreContract.ts"

for (const [name, layer] of everyStore) limitStoreContract(name, layer)
