/** The HTTP side of Bluesky: profiles, posts, and the control of its stream below /control/bluesky. */
import { Either, Schema } from "effect"
import { type Call, jsonReply, parseJson, type Reply } from "../wire.ts"
import type { Jetstream } from "./Jetstream.ts"

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
  if (act === undefined) {
    const known = Object.keys(actions).map((name) => `POST /control/bluesky/${name}`)
    return jsonReply(404, { message: `Expected one of ${known.join(", ")}` })
  }
  const problem = act(jetstream, parseJson(body)?.value, now)
  return problem === undefined
    ? jsonReply(200, { connections: jetstream.connected })
    : jsonReply(400, { message: problem })
}

// ---- helpers ----

type Act = (jetstream: Jetstream, input: unknown, now: number) => string | undefined

/** Returns what is wrong with the input. */
const action = <A, I>(schema: Schema.Schema<A, I>, run: (jetstream: Jetstream, input: A, now: number) => void): Act => {
  const decode = Schema.decodeUnknownEither(schema, { onExcessProperty: "error" })
  return (jetstream, input, now) =>
    Either.match(decode(input), {
      onLeft: ({ message }) => message,
      onRight: (valid) => run(jetstream, valid, now) as undefined
    })
}

const did = Schema.NonEmptyString
const count = Schema.NonNegativeInt

const Faults = Schema.partialWith(
  Schema.Struct({
    refuse: Schema.Struct({ status: count, times: count }),
    stallSeconds: count,
    close: count,
    trimSeconds: count,
    countAnew: Schema.Boolean,
    duplicates: count,
    torn: Schema.Boolean,
    error: Schema.String,
    noProfiles: Schema.Boolean
  }),
  { exact: true }
)

const actions: Readonly<Record<string, Act>> = {
  /** In the form of the event format. */
  events: action(
    Schema.Struct({ events: Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown })) }),
    (jetstream, { events }, now) => {
      for (const event of events) jetstream.publish(event, now)
    }
  ),
  delete: action(Schema.Struct({ did, rkey: Schema.NonEmptyString }), (jetstream, { did, rkey }, now) =>
    jetstream.delete(did, rkey, now)
  ),
  account: action(
    Schema.Struct({ did, active: Schema.Boolean, status: Schema.optionalWith(Schema.String, { exact: true }) }),
    (jetstream, { did, ...state }, now) => jetstream.account(did, state, now)
  ),
  sync: action(Schema.Struct({ did }), (jetstream, { did }, now) => jetstream.sync(did, now)),
  /** See `JetstreamFaults`. */
  faults: action(Faults, (jetstream, faults, now) => jetstream.inject(faults, now))
}
