/** Addresses of the demo feed's pages. All hosts are names that the standards keep free: none leads to a real site. */
import type { Array as Arr } from "effect"

export interface Site {
  readonly host: string
  /** Its domain rating, from 0 to 100. */
  readonly rating: number
}

export const SITES: Arr.NonEmptyReadonlyArray<Site> = [
  { host: "news.example.com", rating: 86 },
  { host: "magazine.example.org", rating: 71 },
  { host: "blog.example.com", rating: 58 },
  { host: "www.example.net", rating: 64 },
  { host: "forum.example.com", rating: 43 },
  { host: "daily.example", rating: 77 }
]

/** `section` and `title` stand in the address; `key` tells it from others with the same title; `now` in milliseconds. */
export const pageUrl = (
  { host }: Site,
  page: { readonly section: string; readonly title: string; readonly key: string; readonly now: number }
): string => {
  const day = new Date(page.now).toISOString().slice(0, 10).replaceAll("-", "/")
  const words =
    page.title
      .normalize("NFD")
      .replace(/\p{M}/gu, "")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  return `https://${host}/${page.section}/${day}/${[...words.slice(0, 8), page.key].join("-")}`
}

/** Names that rise with time and are never given out twice, also after a restart: X's ids and the keys of pages. */
export const risingIds = () => {
  let last = 0n
  return (now: number): bigint => {
    const earliest = BigInt(Math.max(0, now - X_EPOCH)) << 22n
    last = earliest > last ? earliest : last + 1n
    return last
  }
}

// ---- helpers ----

/** X's ids are the milliseconds since then, and 22 bits that tell those of one millisecond apart. */
const X_EPOCH = 1_288_834_974_657
