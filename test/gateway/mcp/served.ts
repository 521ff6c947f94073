/** A test with an agent that is connected to a service of its own. */
import { it } from "@effect/vitest"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Effect } from "effect"
import { localPlatforms } from "../../platforms.ts"
import { call as post, type Target } from "../client.ts"
import { serve, serviceOn } from "../inProcess.ts"
import { type Agent, type Called, connect } from "./session.ts"

export interface Context {
  readonly agent: Agent
  readonly target: Target
}

export function served(title: string, test: (context: Context) => Promise<void>): void {
  it.scopedLive(
    title,
    () =>
      Effect.gen(function* () {
        const target = yield* (yield* serve)("ann")
        yield* Effect.promise(async () => test({ target, agent: await connect(transportOf(target)) }))
      }).pipe(Effect.provide(serviceOn(localPlatforms()))),
    240_000
  )
}

export const transportOf = (target: Target) =>
  new StreamableHTTPClientTransport(new URL(`${target.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${target.key}` } }
  })

let posts = 0
export const publish = (target: Target, texts: ReadonlyArray<string>) =>
  post(
    target,
    "/local/events",
    texts.map((text) => ({ data: { id: String(++posts), text } }))
  )

/** The arguments of the call that the text suggests. */
export const suggestion = ({ text }: Called, tool: string): Record<string, unknown> | undefined => {
  const json = new RegExp(`${tool} with (\\{[^\\n]*\\})`).exec(text)?.[1]
  return json === undefined ? undefined : (JSON.parse(json) as Record<string, unknown>)
}
