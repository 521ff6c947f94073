/** Finds the links in Markdown text. */

/** The texts of links such as `[text](address)`, without images. Linear time. */
export const anchorsOf = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const open: Array<number> = []
  let close = -1
  let lineEnd = -1
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]
    if (sign === "\\") {
      at++
    } else if (sign === "[") {
      open.push(at)
    } else if (sign === "]") {
      const start = open.pop()
      if (start === undefined || text[at + 1] !== "(") continue
      close = nextIndex(text, ")", at, close)
      lineEnd = nextIndex(text, "\n", at, lineEnd)
      if (close < text.length && close < lineEnd && text[start - 1] !== "!") {
        found.push(text.slice(start + 1, at))
      }
    }
  }
  return found
}

// ---- helpers ----

/** Index of the next sign after `at`. Reuses the last index found while it is still ahead. */
const nextIndex = (text: string, sign: string, at: number, known: number): number => {
  if (known > at) return known
  const found = text.indexOf(sign, at + 1)
  return found === -1 ? text.length + 1 : found
}
