import { everyStore } from "../stores.ts"
import { grantStoreContract } from "./grantStoreContract.ts"

for (const [name, layer] of everyStore) grantStoreContract(name, layer)
