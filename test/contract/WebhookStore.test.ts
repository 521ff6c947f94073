import { everyStore } from "../stores.ts"
import { subscriptionStoreContract } from "./subscriptionStoreContract.ts"
import { webhookStoreContract } from "./webhookStoreContract.ts"

for (const [name, layer] of everyStore) {
  subscriptionStoreContract(name, layer)
  webhookStoreContract(name, layer)
}
