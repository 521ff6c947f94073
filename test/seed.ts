/** Fixes the seed of property tests, so that a failure is reproducible. Set FC_SEED for other inputs. */
import fc from "fast-check"

fc.configureGlobal({ seed: Number(process.env["FC_SEED"] ?? 1) })
