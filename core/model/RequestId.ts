/** The id of the current request. The gateway provides it; the logger adds it to every line. */
import { Context } from "effect"

export class RequestId extends Context.Tag("core/RequestId")<RequestId, string>() {}
