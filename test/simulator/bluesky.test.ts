/** The control of the simulated Jetstream says what is wrong with its input, and does nothing then. */
import { assert, describe, it } from "@effect/vitest"
import { Jetstream } from "../../simulator/bluesky/Jetstream.ts"
import { answerBluesky } from "../../simulator/bluesky/router.ts"

describe("/control/bluesky", () => {
  const ask = (jetstream: Jetstream, path: string, body: string) => {
    const call = { method: "POST", query: new URLSearchParams(), headers: new Headers(), body, now: 0 }
    const { status, body: answer } = answerBluesky(jetstream, { ...call, path: `/control/bluesky/${path}` })
    return [status, String(answer)] as const
  }

  it.each([
    ["delete", "{}", 400, /"did"/],
    ["delete", '{"did": "did:plc:a", "rkey": ""}', 400, /"rkey"/],
    ["account", '{"did": "did:plc:a"}', 400, /"active"/],
    ["faults", '{"kind": "cut"}', 400, /"kind"/],
    ["faults", "no JSON", 400, /undefined/],
    ["nonsense", "{}", 404, /POST \/control\/bluesky\/delete/],
    ["faults", '{"close": 1006}', 200, /"connections":0/],
    ["delete", '{"did": "did:plc:a", "rkey": "3l1"}', 200, /connections/]
  ] as const)("%s with %s answers %i", (path, body, status, text) => {
    const [actual, answer] = ask(new Jetstream(), path, body)
    assert.strictEqual(actual, status, answer)
    assert.match(answer.replaceAll("\\", ""), text)
  })
})
