/** The port by which messages leave for receivers. */
import { Context, type Effect, type Option, type Redacted } from "effect"

export interface Message {
  readonly url: string
  /** The same for every attempt of the same message: receivers know repeats by it. */
  readonly id: string
  /** When it is sent, in milliseconds. */
  readonly at: number
  readonly body: string
  /** It is signed with each. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/** What came of sending. */
export type Answer =
  | {
      readonly _tag: "Answered"
      readonly status: number
      /** The beginning of it. */
      readonly body: string
      /** How long the receiver asks to wait, in milliseconds. */
      readonly retryAfter: Option.Option<number>
    }
  /** No answer, or none that can be read: why, in words. */
  | { readonly _tag: "Unanswered"; readonly reason: string }

export class WebhookSender extends Context.Tag("core/WebhookSender")<
  WebhookSender,
  {
    /** Why nothing will ever be sent to that URL, as far as it can be told without a look at the network. */
    readonly refusal: (url: string) => Option.Option<string>
    /** Once. Bounded in time and in what is read; a redirect is an answer like any other. */
    readonly send: (message: Message) => Effect.Effect<Answer>
  }
>() {}
