/** The port to WebSocket clients: the runtimes have different ones. */
import { Context, Data, type Effect, type Scope, type Stream } from "effect"
import type { Unreachable } from "./call.ts"

/** The server answered the request to open a connection with a status of HTTP. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly status: number
  /** Empty if the runtime does not tell it. */
  readonly text: string
}> {}

export class WebSockets extends Context.Tag("adapters/WebSockets")<
  WebSockets,
  {
    /**
     * Opens a connection that closes with the scope. The stream has the text messages, and fails when the connection
     * ends. A slow reader stops the connection.
     */
    readonly open: (
      url: string
    ) => Effect.Effect<Stream.Stream<string, Unreachable>, Refused | Unreachable, Scope.Scope>
  }
>() {}
