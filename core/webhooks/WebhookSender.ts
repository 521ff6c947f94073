/** Port for sending signed messages to webhook receivers. */
import { Context, Effect, Layer, type Option, type Redacted } from "effect"

export interface Message {
  readonly url: string
  /** The same for every attempt, so that receivers can dedupe. */
  readonly id: string
  /** Send time in milliseconds. */
  readonly at: number
  readonly body: string
  /** The message carries one signature per secret. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  readonly options?: SendOptions
}

/** For the receivers of subscriptions. */
export interface SendOptions {
  readonly headers: Readonly<Record<string, string>>
  /** Until the headers of the response. */
  readonly timeoutSeconds: number
  /** http only to addresses that the operator allows. */
  readonly isSecure: boolean
}

/** A word for programs. */
export type Trouble = "not_allowed" | "connection_refused" | "tls_error" | "timeout"

export type Answer =
  | {
      readonly _tag: "Answered"
      readonly status: number
      /** Truncated. */
      readonly body: string
      /** In milliseconds. */
      readonly retryAfter: Option.Option<number>
    }
  /** No response, or an unreadable one. */
  | { readonly _tag: "Unanswered"; readonly reason: string; readonly trouble?: Trouble }

export class WebhookSender extends Context.Tag("core/WebhookSender")<
  WebhookSender,
  {
    /** Why messages to that URL are not allowed. Checks without network access. */
    readonly refusal: (url: string, options?: Pick<SendOptions, "isSecure">) => Option.Option<string>
    /** One attempt, with limits on time and response size. Does not follow redirects. */
    readonly send: (message: Message) => Effect.Effect<Answer>
  }
>() {
  /** Sends nothing: every attempt fails with this reason. */
  static readonly layerOff = (reason: string): Layer.Layer<WebhookSender, never, WebhookSender> =>
    Layer.effect(
      WebhookSender,
      Effect.map(WebhookSender, (sender) => ({ ...sender, send: () => Effect.succeed({ _tag: "Unanswered", reason }) }))
    )
}
