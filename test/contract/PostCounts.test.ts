import { everyStore } from "../stores.ts"
import { postCountsContract } from "./postCountsContract.ts"

for (const [name, layer] of everyStore) postCountsContract(name, layer)
