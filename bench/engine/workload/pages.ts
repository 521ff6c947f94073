/** Page changes as sent by Firehose: 600 added words on average, a site, a category, a rating. */

import { type Random, Zipf } from "../../../fixtures/distributions.ts"
import { fieldTerm, type MadeEvent } from "./event.ts"
import { sentence, writeText } from "./topics.ts"
import { hostAt } from "./words.ts"

export const SITES = 100_000
export const PAGE_LANGUAGES = ["en", "ja", "es", "pt", "ar", "tr", "fr", "id", "ko", "de", "ru", "it"] as const
export const CATEGORIES = ["/News", "/Sports", "/Finance", "/Health", "/Games", "/Science", "/Reference", "/Shopping"]
export const TYPES = ["/Article", "/Listing", "/Landing_Page", "/Document", "/Video"]
/** Thresholds for rules on the site's rating. */
export const RATINGS = [20, 40, 60] as const

export const makePage = (random: Random, index: number): MadeEvent => {
  const site = sites.draw(random)
  const language = PAGE_LANGUAGES[languages.draw(random)] ?? "en"
  const category = random.pick(CATEGORIES)
  const type = random.pick(TYPES)
  const rating = Math.max(0, 90 - Math.floor(8 * Math.log(1 + site)))
  const text = sentence(writeText(random, random.logNormal(600, 0.7)))
  const record = {
    document: {
      url: `https://${hostAt(site)}/${index}`,
      title: `Page${index}`,
      language,
      domain_rating: rating,
      page_category: [category],
      page_types: [type],
      publish_time: "2026-01-01T00:00:00Z",
      diff: { chunks: [{ typ: "ins", text }] }
    },
    matched_at: "2026-01-01T01:00:00Z"
  }
  const fields = [
    fieldTerm("domain", hostAt(site)),
    fieldTerm("language", language),
    fieldTerm("category", category),
    fieldTerm("type", type),
    ...RATINGS.filter((least) => rating >= least).map((least) => fieldTerm("rating", String(least)))
  ]
  return { record, plain: { text, fields } }
}

// ---- helpers ----

const sites = new Zipf(SITES, 0.9, 10)
const languages = new Zipf(PAGE_LANGUAGES.length, 1.3, 0)
