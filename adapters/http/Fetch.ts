/** The function that sends HTTP requests. */
import { Context } from "effect"

/** The runtime's `fetch` by default. Tests and the in-process simulator replace it. */
export class Fetch extends Context.Reference<Fetch>()("adapters/Fetch", {
  defaultValue: (): { readonly send: (request: Request) => Promise<Response> } => ({
    send: (request) => fetch(request)
  })
}) {}
