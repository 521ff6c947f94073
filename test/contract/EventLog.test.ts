import { everyStore } from "../stores.ts"
import { eventLogContract } from "./eventLogContract.ts"

for (const [name, layer] of everyStore) eventLogContract(name, layer)
