/** The HTTP side of Bluesky: profiles, posts, and the control of its stream below /control/bluesky. */
import { type JsonObject, objectOf, objectsOf, textOf } from "../../core/text/json.ts"
import { type Call, jsonReply, parseJson, type Reply } from "../wire.ts"
import type { Jetstream, JetstreamFaults } from "./Jetstream.ts"

export const answerBluesky = (jetstream: Jetstream, { method, path, query, body, now }: Call): Reply => {
  if (path === "/xrpc/app.bsky.actor.getProfiles") {
    const actors = query.getAll("actors")
    if (!jetstream.hasProfiles) return jsonReply(503, { error: "Unavailable", message: "Try again" })
    return actors.length > 25
      ? jsonReply(400, { error: "InvalidRequest", message: "at most 25 actors" })
      : jsonReply(200, jetstream.profiles(actors))
  }
  if (path === "/xrpc/app.bsky.feed.getPosts") {
    const uris = query.getAll("uris")
    return uris.length > 25
      ? jsonReply(400, { error: "InvalidRequest", message: "at most 25 posts" })
      : jsonReply(200, jetstream.posts(uris))
  }
  const act = method === "POST" ? actions[path.replace("/control/bluesky/", "")] : undefined
  const input = objectOf(parseJson(body)?.value)
  if (act === undefined || input === undefined) {
    const known = Object.keys(actions).map((name) => `POST /control/bluesky/${name}`)
    return jsonReply(404, { message: `Expected one of ${known.join(", ")}, with a JSON object` })
  }
  act(jetstream, input, now)
  return jsonReply(200, { connections: jetstream.connected })
}

// ---- helpers ----

const actions: Readonly<Record<string, (jetstream: Jetstream, input: JsonObject, now: number) => void>> = {
  /** {"events": […]} in the form of the event format. */
  events: (jetstream, { events }, now) => {
    for (const event of objectsOf(events)) jetstream.publish(event, now)
  },
  /** {"did", "rkey"} */
  delete: (jetstream, input, now) => jetstream.delete(textOf(input["did"]) ?? "", textOf(input["rkey"]) ?? "", now),
  /** {"did", "active", "status"} */
  account: (jetstream, input, now) => {
    const status = textOf(input["status"])
    jetstream.account(
      textOf(input["did"]) ?? "",
      { active: input["active"] === true, ...(status !== undefined && { status }) },
      now
    )
  },
  /** {"did"} */
  sync: (jetstream, input, now) => jetstream.sync(textOf(input["did"]) ?? "", now),
  /** See `JetstreamFaults`. */
  faults: (jetstream, input, now) => jetstream.inject(input as JetstreamFaults, now)
}
