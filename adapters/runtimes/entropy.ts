/** `Entropy` from `node:crypto`, on Node and on Deno. */

import { Buffer } from "node:buffer"
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto"
import { Layer } from "effect"
import { v7 } from "uuid"
import { Entropy } from "../../core/model/Entropy.ts"

export const layer: Layer.Layer<Entropy> = Layer.succeed(
  Entropy,
  Entropy.of({
    uuid: () => v7(),
    bytes: (length) => randomBytes(length),
    sha256: (content) => createHash("sha256").update(content).digest("hex"),
    seal: (text, secret) => {
      const salt = randomBytes(SALT_BYTES)
      const cipher = createCipheriv(CIPHER, keyOf(secret, salt), ZERO_IV)
      return Buffer.concat([salt, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64")
    },
    unseal: (sealed, secret) => {
      const bytes = Buffer.from(sealed, "base64")
      const decipher = createDecipheriv(CIPHER, keyOf(secret, bytes.subarray(0, SALT_BYTES)), ZERO_IV)
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      return decipher.update(bytes.subarray(SALT_BYTES, -TAG_BYTES), undefined, "utf8") + decipher.final("utf8")
    }
  })
)

// ---- helpers ----

const CIPHER = "aes-256-gcm"
const KEY_BYTES = 32
const SALT_BYTES = 16
const TAG_BYTES = 16

/** The salt makes each key a new one, which encrypts a single text. */
const ZERO_IV = new Uint8Array(12)

const keyOf = (secret: string, salt: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", secret, salt, "earshot answer", KEY_BYTES))
