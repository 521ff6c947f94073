/** Bluesky's HTTP interface that needs no account: profiles and posts. */
import { Effect } from "effect"
import { type JsonObject, jsonOf, objectOf, objectsOf, textOf } from "../../core/text/json.ts"
import { call, Unreachable } from "../http/call.ts"

/** The most that one call takes. */
export const MAX_PER_CALL = 25

/** Those that exist and are shown. */
export type PublicApi = (
  what: "profiles" | "posts",
  ids: ReadonlyArray<string>
) => Effect.Effect<ReadonlyArray<JsonObject>, Unreachable>

export const publicApi =
  (baseUrl: string): PublicApi =>
  (what, ids) =>
    Effect.gen(function* () {
      const { method, parameter } = METHODS[what]
      const query = new URLSearchParams(ids.map((id) => [parameter, id]))
      const url = `${baseUrl.replace(/\/+$/, "")}/xrpc/${method}?${query}`
      if (!URL.canParse(url)) return yield* new Unreachable({ reason: "its address is not valid" })
      const { status, text } = yield* call(new Request(url, { headers: { "user-agent": "earshot" } }))
      const found = objectOf(jsonOf(text))?.[what]
      if (status !== 200 || !Array.isArray(found)) {
        return yield* new Unreachable({ reason: `it answered with status ${status}` })
      }
      return objectsOf(found)
    })

export interface Profile {
  readonly did: string
  readonly handle: string
  /** The account asks not to be shown to people who have not signed in. */
  readonly isPrivate: boolean
}

/** Of those that exist, by DID or handle. */
export const profilesOf =
  (ask: PublicApi) =>
  (actors: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Profile>, Unreachable> =>
    Effect.map(ask("profiles", actors), (profiles) =>
      profiles.flatMap((profile) => {
        const did = textOf(profile["did"])
        const handle = textOf(profile["handle"])?.toLowerCase()
        const isPrivate = objectsOf(profile["labels"]).some(({ val }) => val === "!no-unauthenticated")
        return did === undefined || handle === undefined ? [] : [{ did, handle, isPrivate }]
      })
    )

// ---- helpers ----

const METHODS = {
  profiles: { method: "app.bsky.actor.getProfiles", parameter: "actors" },
  posts: { method: "app.bsky.feed.getPosts", parameter: "uris" }
}
