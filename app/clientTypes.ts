/** The types that API clients compile against. The build writes them to `dist/client.d.ts`. */

import { platformSchemas } from "../api/platformSchemas.ts"
import { clientTypes as typesOf } from "../gateway/openapi/clientTypes.ts"
import { builtIn } from "./platforms.ts"

export const clientTypes = (): string => typesOf(platformSchemas(builtIn))
