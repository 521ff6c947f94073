/** Entropy from the runtime: time-ordered UUIDs, random bytes, SHA-256, encryption. */
import { Context, Layer } from "effect"

export class Entropy extends Context.Tag("core/Entropy")<
  Entropy,
  {
    /** A UUIDv7. The UUIDs of one process sort in the order of the calls. */
    readonly uuid: () => string
    readonly bytes: (length: number) => Uint8Array
    /** SHA-256 in lower-case hexadecimal. */
    readonly sha256: (content: string | Uint8Array) => string
    /** Encrypts with AES-256-GCM, under a key that is derived from the secret. */
    readonly seal: (text: string, secret: string) => string
    /** Throws if it was sealed with another secret. */
    readonly unseal: (sealed: string, secret: string) => string
  }
>() {
  /** Deterministic, for tests. */
  static readonly layerCounting: Layer.Layer<Entropy> = Layer.sync(Entropy, () => {
    let count = 0
    return Entropy.of({
      uuid: () => `00000000-0000-7000-8000-${(++count).toString(16).padStart(12, "0")}`,
      bytes: (length) => Uint8Array.from({ length }, () => (++count * 37) % 256),
      sha256: (content) => fingerprint(typeof content === "string" ? content : new TextDecoder().decode(content)),
      seal: (text) => text,
      unseal: (text) => text
    })
  })
}

// ---- helpers ----

/** Four 32-bit FNV-1a hashes with different seeds. */
const fingerprint = (text: string): string => {
  let out = ""
  for (let seed = 1; seed <= 4; seed++) {
    let hash = 0x811c9dc5 ^ seed
    for (let i = 0; i < text.length; i++) {
      hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
    }
    out += hash.toString(16).padStart(8, "0")
  }
  return out.padEnd(64, "0")
}
