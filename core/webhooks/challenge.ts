/** Asks a callback URL to prove that its owner wants the events of a subscription. */
import { Clock, type Duration, Effect, Encoding, Option, type Redacted, Schema } from "effect"
import type { Entropy } from "../model/Entropy.ts"
import { toSubscription, verificationBody } from "./eventMessages.ts"
import type { Answer, WebhookSender } from "./WebhookSender.ts"

export interface Challenge {
  readonly url: string
  readonly secret: Redacted.Redacted
  /** The id of the subscription. */
  readonly subscription: string
}

export interface Challenged {
  readonly at: number
  readonly took: Duration.Duration
  readonly answer: Answer
  /** Why the challenge failed, in a word for programs; undefined if it was met. */
  readonly trouble: string | undefined
}

export interface Challenges {
  readonly send: (challenge: Challenge) => Effect.Effect<Challenged>
}

export const makeChallenges = ({
  sender,
  entropy
}: {
  readonly sender: WebhookSender["Type"]
  readonly entropy: Entropy["Type"]
}): Challenges => ({
  send: Effect.fnUntraced(function* ({ url, secret, subscription }) {
    const challenge = Encoding.encodeBase64Url(entropy.bytes(CHALLENGE_BYTES))
    const id = `msg_verification_${Encoding.encodeBase64Url(entropy.bytes(CHALLENGE_BYTES / 2))}`
    const at = yield* Clock.currentTimeMillis
    const body = JSON.stringify(verificationBody(challenge))
    const options = toSubscription(subscription)
    const [took, answer] = yield* Effect.timed(sender.send({ url, id, at, body, secrets: [secret], options }))
    return { at, took, answer, trouble: troubleOf(answer, challenge) }
  })
})

// ---- helpers ----

const CHALLENGE_BYTES = 32

const Echo = Schema.parseJson(Schema.Struct({ challenge: Schema.String }))

const decodeEcho = Schema.decodeOption(Echo)

const troubleOf = (answer: Answer, challenge: string): string | undefined => {
  if (answer._tag === "Unanswered") return answer.trouble ?? "connection_refused"
  const { status, body } = answer
  if (status < 200 || status > 299) return `http_${Math.min(5, Math.max(3, Math.floor(status / 100)))}xx`
  return Option.exists(decodeEcho(body), (echo) => isSame(echo.challenge, challenge)) ? undefined : "challenge_failed"
}

/** In constant time. */
const isSame = (one: string, other: string): boolean => {
  let difference = one.length ^ other.length
  for (let index = 0; index < other.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index)
  return difference === 0
}
