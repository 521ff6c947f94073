/** The id of the current request. The gateway provides it; the logger adds it to every line. */
import { FiberRef, Option } from "effect"

/** Not a service: providing one copies all services, which is slow for each request. */
export const RequestId: FiberRef.FiberRef<Option.Option<string>> = FiberRef.unsafeMake(Option.none())
