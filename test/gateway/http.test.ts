/** The HTTP contract of the real program on each runtime. */
import { RUNTIMES, startService } from "../program.ts"
import { httpContract } from "./http.contract.ts"

for (const runtime of RUNTIMES) httpContract(runtime, () => startService(runtime))
