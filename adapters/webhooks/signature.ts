/** Signatures by Standard Webhooks 1.0. */
import { createHmac } from "node:crypto"
import { Redacted } from "effect"
import type { Message } from "../../core/webhooks/WebhookSender.ts"

/** The headers that say what the message is and that it is ours. */
export const signedHeaders = ({ id, at, body, secrets }: Message): Readonly<Record<string, string>> => {
  const timestamp = String(Math.floor(at / 1_000))
  const sign = (secret: Redacted.Redacted) => {
    const key = Buffer.from(Redacted.value(secret).replace(/^whsec_/, ""), "base64")
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`
  }
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets.map(sign).join(" ")
  }
}
