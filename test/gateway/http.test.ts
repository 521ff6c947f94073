/** The HTTP contract of the real program on each runtime. */
import { BOTH_RUNTIMES, startService } from "../program.ts"
import { httpContract } from "./http.contract.ts"

for (const runtime of BOTH_RUNTIMES) httpContract(runtime, () => startService(runtime))
