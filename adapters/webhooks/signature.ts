/** Standard Webhooks 1.0 signature with `node:crypto`, without a dependency. Tests check it with `standardwebhooks`. */
import { createHmac } from "node:crypto"
import { Redacted } from "effect"
import type { Message } from "../../core/webhooks/WebhookSender.ts"

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
