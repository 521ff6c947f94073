/** Addresses and ids of the demo feed. All hosts are reserved by RFC 2606, so no link leads to a real site. */
import type { Array as Arr } from "effect"

export interface Site {
  readonly host: string
  /** Domain Rating, 0 to 100. */
  readonly rating: number
}

export const sites: Arr.NonEmptyReadonlyArray<Site> = [
  { host: "news.example.com", rating: 86 },
  { host: "magazine.example.org", rating: 71 },
  { host: "blog.example.com", rating: 58 },
  { host: "www.example.net", rating: 64 },
  { host: "forum.example.com", rating: 43 },
  { host: "daily.example", rating: 77 }
]

/** `key` makes the address unique. `now` is in milliseconds. */
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

/** Snowflake ids, for X posts and as keys of pages: ascending and unique, also across restarts. */
export const ascendingIds = () => {
  let last = 0n
  return (now: number): bigint => {
    const earliest = BigInt(Math.max(0, now - X_EPOCH)) << 22n
    last = earliest > last ? earliest : last + 1n
    return last
  }
}

// ---- helpers ----

/** An X id is the milliseconds since this epoch, followed by 22 bits that are unique within the millisecond. */
const X_EPOCH = 1_288_834_974_657
