/** Port to the documents with which OAuth clients describe themselves. */
import { Context, type Effect, Schema } from "effect"

/** The reason says nothing of the network of the server. */
export class DocumentUnavailable extends Schema.TaggedError<DocumentUnavailable>()("DocumentUnavailable", {
  reason: Schema.String
}) {}

export class ClientDocuments extends Context.Tag("core/ClientDocuments")<
  ClientDocuments,
  {
    /** The text of the document. Reads from public addresses only, follows no redirect, and is limited in time and size. */
    readonly read: (url: string) => Effect.Effect<string, DocumentUnavailable>
  }
>() {}
