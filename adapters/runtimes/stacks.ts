/**
 * Stack traces of the bundle in terms of the sources. Maps are read when a stack is logged: Node's own support for them
 * reads all of them at every start.
 */
import { readFileSync } from "node:fs"
import { SourceMap } from "node:module"
import { fileURLToPath } from "node:url"

/** The text with each place in a bundled file replaced by the place in the source that it was made of. */
export const withSources = (text: string): string =>
  text.replace(/(file:\/\/[^\s()]+\.js):(\d+):(\d+)/g, (place, url: string, line: string, column: string) => {
    const entry = mapOf(url)?.findEntry(Number(line) - 1, Number(column) - 1)
    if (entry === undefined || !("originalSource" in entry)) return place
    const { originalSource, originalLine, originalColumn } = entry
    return `${originalSource.replace(/^(\.\.\/)+/, "")}:${originalLine + 1}:${originalColumn + 1}`
  })

// ---- helpers ----

const maps = new Map<string, SourceMap | undefined>()

const mapOf = (url: string): SourceMap | undefined => {
  if (!maps.has(url)) maps.set(url, readMap(url))
  return maps.get(url)
}

/** A file without a map, such as one of Node's, stays as it is. */
const readMap = (url: string): SourceMap | undefined => {
  try {
    return new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${url}.map`), "utf8")))
  } catch {
    return undefined
  }
}
