/** `Entropy` from `node:crypto`, on Node and on Deno. */
import { createHash, randomBytes } from "node:crypto"
import { Layer } from "effect"
import { v7 } from "uuid"
import { Entropy } from "../../core/model/Entropy.ts"

export const layer: Layer.Layer<Entropy> = Layer.succeed(
  Entropy,
  Entropy.of({
    uuid: () => v7(),
    bytes: (length) => randomBytes(length),
    sha256: (text) => createHash("sha256").update(text).digest("hex")
  })
)
