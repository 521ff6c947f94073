/** The entities of a post in X's format: tags, mentions and links with their offsets in the text. */
import type { Account } from "./accounts.ts"

export interface Link {
  /** The URL in the text. */
  readonly url: string
  readonly expanded_url: string
  readonly display_url: string
  readonly title: string
  readonly description: string
  readonly status: number
}

interface Span {
  readonly start: number
  readonly end: number
}

export interface Entities {
  readonly hashtags?: ReadonlyArray<Span & { readonly tag: string }>
  readonly cashtags?: ReadonlyArray<Span & { readonly tag: string }>
  readonly mentions?: ReadonlyArray<Span & { readonly username: string; readonly id: string }>
  readonly urls?: ReadonlyArray<Span & Link>
}

/** `links` and `mentioned` must occur in the text. Empty lists are omitted, as on X. */
export const entitiesOf = (
  text: string,
  { links, mentioned }: { readonly links: ReadonlyArray<Link>; readonly mentioned: ReadonlyArray<Account> }
): { readonly entities?: Entities } => {
  const tags = (pattern: RegExp) =>
    Array.from(text.matchAll(pattern), ({ 0: whole, 1: tag = "", index }) => ({ ...spanAt(text, index, whole), tag }))
  const hashtags = tags(/#([\p{L}\p{N}_]+)/gu)
  const cashtags = tags(/\$([A-Z]+)/g)
  const mentions = mentioned.map(({ id, username }) => ({ ...spanOf(text, `@${username}`), username, id }))
  const urls = links.map((link) => ({ ...spanOf(text, link.url), ...link }))
  const entities = {
    ...(hashtags.length > 0 && { hashtags }),
    ...(cashtags.length > 0 && { cashtags }),
    ...(mentions.length > 0 && { mentions }),
    ...(urls.length > 0 && { urls })
  }
  return Object.keys(entities).length === 0 ? {} : { entities }
}

// ---- helpers ----

const spanOf = (text: string, part: string): Span => spanAt(text, text.indexOf(part), part)

/** Offsets in code points, not UTF-16 code units. The end is exclusive. */
const spanAt = (text: string, index: number, part: string): Span => {
  const start = [...text.slice(0, index)].length
  return { start, end: start + [...part].length }
}
