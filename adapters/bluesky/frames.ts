/** Reads the messages of Jetstream, in its second format. Unknown ones are passed over, as the protocol demands. */
import { Either } from "effect"
import { POSTS, postUri } from "../../core/syntax/bluesky/Post.ts"
import {
  instantOf,
  isTooDeep,
  type JsonObject,
  jsonOf,
  MAX_DEPTH,
  numberOf,
  objectOf,
  textOf
} from "../../core/text/json.ts"
import { numberProblem } from "../../core/text/numbers.ts"

/** Where a message lies in the stream. `at`: when the platform saw it, in milliseconds. */
interface Place {
  readonly seq: number
  readonly at: number
}

export type Frame =
  | ({
      readonly _tag: "Post"
      readonly did: string
      readonly uri: string
      readonly payload: Record<string, unknown>
      readonly damaged?: { readonly reason: string; readonly text: string }
    } & Place)
  | ({ readonly _tag: "Deleted"; readonly did: string; readonly uri: string } & Place)
  | ({
      readonly _tag: "Account"
      readonly did: string
      readonly isActive: boolean
      readonly isDeleted: boolean
    } & Place)
  /** `handle`: as the account says. */
  | ({ readonly _tag: "Identity"; readonly did: string; readonly handle: string | undefined } & Place)
  /** Nothing for us. */
  | ({ readonly _tag: "Other" } & Place)
  /** The cursor is older than what the server has: it starts at its oldest message. */
  | { readonly _tag: "Outdated" }
  /** The last message. */
  | { readonly _tag: "Failed"; readonly reason: string }

/** Left: why a message that may be a post cannot be read. Undefined for an unknown message. */
export const frameOf = (text: string): Either.Either<Frame | undefined, string> => {
  if (text.length > MAX_LENGTH) return Either.left(`Longer than ${MAX_LENGTH} characters`)
  const message = objectOf(jsonOf(text))
  if (message === undefined) return Either.left("Not a JSON object")
  if (isTooDeep(message)) return Either.left(`Nested more than ${MAX_DEPTH} levels deep`)
  if (message["$type"] === "error") {
    const reason = [message["error"], message["message"]].flatMap((part) => textOf(part) ?? []).join(": ")
    return Either.right({ _tag: "Failed", reason: reason === "" ? "it gave no reason" : reason })
  }
  const payload = objectOf(message["payload"])
  const [, kind] = /#(\w+)$/.exec(textOf(payload?.["$type"]) ?? "") ?? []
  if (payload === undefined || kind === undefined) return Either.right(undefined)
  if (kind === "info") {
    return Either.right(payload["name"] === "OutdatedCursor" ? { _tag: "Outdated" } : undefined)
  }
  const seq = seqOf(payload["seq"])
  const at = instantOf(payload["time"])
  const did = textOf(payload["did"])
  if (seq === undefined || at === undefined || did === undefined) {
    return kind === "commit" ? Either.left('"seq", "time" or "did" is missing') : Either.right(undefined)
  }
  const place = { seq, at }
  switch (kind) {
    case "commit":
      return commitOf(payload, { ...place, did, text })
    case "account": {
      const account = objectOf(payload["account"])
      if (typeof account?.["active"] !== "boolean") return Either.right({ _tag: "Other", ...place })
      const isDeleted = account["status"] === "deleted"
      return Either.right({ _tag: "Account", did, isActive: account["active"], isDeleted, ...place })
    }
    case "identity": {
      const handle = textOf(objectOf(payload["identity"])?.["handle"])?.toLowerCase()
      return Either.right({ _tag: "Identity", did, handle, ...place })
    }
    default:
      return Either.right({ _tag: "Other", ...place })
  }
}

// ---- helpers ----

/** Far above any post. To parse a longer one would take too much time at once. */
const MAX_LENGTH = 128 * 1_024

/** After a repair, the platform sends all posts of an account again. Posts that are imported are old, too. */
const MAX_AGE_MILLIS = 24 * 3_600_000

const MAX_ID = 2_000

/** The platform refuses other numbers when the stream resumes: from this one on, it takes them for times. */
const FIRST_TIME = 1e15

const seqOf = (value: unknown): number | undefined => {
  const seq = numberOf(value)
  return seq !== undefined && Number.isInteger(seq) && seq >= 0 && seq < FIRST_TIME ? seq : undefined
}

const commitOf = (
  payload: JsonObject,
  { did, text, ...place }: Place & { readonly did: string; readonly text: string }
): Either.Either<Frame, string> => {
  const { $type: _, seq: __, did: ___, time, ...commit } = payload
  const rkey = textOf(commit["rkey"])
  if (commit["collection"] !== POSTS) return Either.right({ _tag: "Other", ...place })
  if (rkey === undefined) return Either.left('"rkey" is missing')
  const uri = postUri(did, rkey)
  if (uri.length > MAX_ID) return Either.left(`The URI of the post is longer than ${MAX_ID} characters`)
  if (commit["operation"] === "delete") return Either.right({ _tag: "Deleted", did, uri, ...place })
  const record = objectOf(commit["record"])
  if (record === undefined) return Either.left('"record" is missing')
  const createdAt = instantOf(record["createdAt"])
  if (createdAt !== undefined && createdAt < place.at - MAX_AGE_MILLIS) return Either.right({ _tag: "Other", ...place })
  const micros = Number(/\.\d{3}(\d{3})/.exec(textOf(time) ?? "")?.[1] ?? 0)
  const reason = numberProblem(text)
  return Either.right({
    _tag: "Post",
    did,
    uri,
    payload: { did, time_us: place.at * 1_000 + micros, kind: "commit", commit },
    ...(reason !== undefined && { damaged: { reason, text } }),
    ...place
  })
}
