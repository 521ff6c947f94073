/** Decodes the bytes of a feed. */

/** In this order: byte order mark, HTTP, XML declaration, UTF-8 if it is valid, else Windows-1252. */
export const decodeText = (bytes: Uint8Array, contentType: string): string => {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, 200))
  const stated = [
    BOMS.find(([bom]) => start.startsWith(bom))?.[1],
    /charset=["']?([\w-]+)/i.exec(contentType)?.[1],
    /^\s*<\?xml[^>]*\bencoding=["']([\w-]+)["']/.exec(start)?.[1]
  ]
  for (const name of stated) {
    const text = name === undefined ? undefined : decodedAs(name, bytes)
    if (text !== undefined) return text
  }
  return decodedAs("utf-8", bytes, true) ?? new TextDecoder("windows-1252").decode(bytes)
}

// ---- helpers ----

/** As Latin-1 characters. */
const BOMS = [
  ["\u00ef\u00bb\u00bf", "utf-8"],
  ["\u00ff\u00fe", "utf-16le"],
  ["\u00fe\u00ff", "utf-16be"]
] as const

/** `undefined` for an unknown charset, and for text that is not valid in it. */
const decodedAs = (name: string, bytes: Uint8Array, fatal = false): string | undefined => {
  try {
    return new TextDecoder(name, { fatal }).decode(bytes)
  } catch {
    return undefined
  }
}
