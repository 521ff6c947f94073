/** How requests leave the process. */
import { Context } from "effect"

/** The runtime's own `fetch`, unless someone else plays the other side in process. */
export class Fetch extends Context.Reference<Fetch>()("adapters/Fetch", {
  defaultValue: (): { readonly send: (request: Request) => Promise<Response> } => ({
    send: (request) => fetch(request)
  })
}) {}
