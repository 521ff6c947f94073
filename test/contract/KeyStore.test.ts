import { everyStore } from "../stores.ts"
import { keyStoreContract } from "./keyStoreContract.ts"

for (const [name, layer] of everyStore) keyStoreContract(name, layer)
