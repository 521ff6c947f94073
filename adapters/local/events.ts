/** Events as the platforms stream them: an X v2 post, a Firehose update. */
import { Either, Schema } from "effect"
import type { PlatformId } from "../../core/PlatformId.ts"

export interface LocalEvent {
  readonly platform: PlatformId
  readonly platformPostId: string
  readonly payload: Record<string, unknown>
  /** Everything a filter may look for. */
  readonly text: string
}

/** `digest` names an event that has no id of its own: the same content is the same event. */
export const decodeEvent = (data: unknown, digest: (text: string) => string): Either.Either<LocalEvent, string> => {
  const post = decodeXPost(data)
  if (Either.isRight(post)) {
    const { id, text } = post.right.data
    return Either.right({ platform: "x", platformPostId: id, payload: post.right, text })
  }
  const update = decodeFirehoseUpdate(data)
  if (Either.isRight(update)) {
    const { title, diff } = update.right.document
    const added = (diff?.chunks ?? []).filter(({ typ }) => typ === "ins").map((chunk) => chunk.text)
    return Either.right({
      platform: "firehose",
      platformPostId: digest(JSON.stringify(update.right.document)),
      payload: update.right,
      text: [title ?? "", ...added].join("\n")
    })
  }
  return Either.left(
    'Is no event: an X post has "data" with "id" and "text", a Firehose update has "document" with "url"'
  )
}

// ---- helpers ----

const Anything = { key: Schema.String, value: Schema.Unknown }

const decodeXPost = Schema.decodeUnknownEither(
  Schema.Struct({ data: Schema.Struct({ id: Schema.NonEmptyString, text: Schema.String }, Anything) }, Anything)
)

const decodeFirehoseUpdate = Schema.decodeUnknownEither(
  Schema.Struct(
    {
      document: Schema.Struct(
        {
          url: Schema.NonEmptyString,
          title: Schema.optional(Schema.String),
          diff: Schema.optional(
            Schema.Struct({ chunks: Schema.Array(Schema.Struct({ typ: Schema.String, text: Schema.String })) })
          )
        },
        Anything
      )
    },
    Anything
  )
)
