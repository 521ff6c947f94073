import { everyStore } from "../stores.ts"
import { webhookStoreContract } from "./webhookStoreContract.ts"

for (const [name, layer] of everyStore) webhookStoreContract(name, layer)
