/** Property tests give the same inputs on every run, so that a red run is about the change. FC_SEED explores others. */
import fc from "fast-check"

fc.configureGlobal({ seed: Number(process.env["FC_SEED"] ?? 1) })
