/**
 * Maps stack traces of the bundle back to the sources. Source maps are read when a stack is logged; Node's own support
 * reads all of them at every start.
 */
import { readFileSync } from "node:fs"
import { SourceMap } from "node:module"
import { fileURLToPath } from "node:url"

/** Replaces each location in a bundled file by its location in the source. */
export const withSources = (text: string): string =>
  text.replace(/(file:\/\/[^\s()]+\.js):(\d+):(\d+)/g, (location, url: string, line: string, column: string) => {
    const entry = mapOf(url)?.findEntry(Number(line) - 1, Number(column) - 1)
    if (entry === undefined || !("originalSource" in entry)) return location
    const { originalSource, originalLine, originalColumn } = entry
    return `${originalSource.replace(/^(\.\.\/)+/, "")}:${originalLine + 1}:${originalColumn + 1}`
  })

// ---- helpers ----

const maps = new Map<string, SourceMap | undefined>()

const mapOf = (url: string): SourceMap | undefined => {
  if (!maps.has(url)) maps.set(url, readMap(url))
  return maps.get(url)
}

/** Undefined for a file without a map, such as Node's own. */
const readMap = (url: string): SourceMap | undefined => {
  try {
    return new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${url}.map`), "utf8")))
  } catch {
    return undefined
  }
}
