/** The id of the request that a fiber serves. Doors provide it; the logger writes it on every line. */
import { Context } from "effect"

export class RequestId extends Context.Tag("core/RequestId")<RequestId, string>() {}
