/** Runs the stream store contract on every store. */
import { everyStore } from "../stores.ts"
import { streamStoreContract } from "./streamStoreContract.ts"

for (const [name, layer] of everyStore) streamStoreContract(name, layer)
