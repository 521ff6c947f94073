/** Made-up pages in the form in which Firehose streams their changes. */
import { pageUrl, risingIds, SITES } from "./addresses.ts"
import { PHRASES } from "./phrases.ts"
import { seeded } from "./random.ts"
import { writer } from "./writer.ts"

/** Stands in every update where Firehose names the tap. */
export const TAP = "earshot-demo-feed"

/** The same seed and the same times, in milliseconds, give the same records. No page comes twice, also over a restart. */
export const pages = (seed: number) => {
  const random = seeded(seed)
  const write = writer(random)
  // With decks of its own: what a page links to does not put off the pages on that topic.
  const aside = writer(random)
  const idAt = risingIds()

  return (now: number) => {
    const topic = write.topic()
    const scene = write.scene(topic)
    const { language } = scene
    const { text: title, type } = write.headline(scene)
    const site = write.deal(SITES)
    const key = idAt(now).toString(36)

    const added = [write.paragraph(scene)]
    if (random.chance(0.6)) added.push(write.paragraph({ ...scene, subject: write.subject(topic, language) }))
    if (random.chance(0.5)) {
      const other = aside.topic()
      const { text } = aside.headline({ ...scene, subject: aside.subject(other, language) })
      const url = pageUrl(write.deal(SITES), { section: other.id, title: text, key, now })
      added.push(`${PHRASES[language].related} [${text}](${url})`)
    }
    const removed = random.chance(0.4) ? [write.outdated(scene)] : []

    return {
      tap_id: TAP,
      matched_at: new Date(now).toISOString(),
      document: {
        url: pageUrl(site, { section: topic.id, title, key, now }),
        title,
        // Firehose's times are without a zone.
        publish_time: new Date(now - random.below(MOST_MINUTES_OLD) * 60_000).toISOString().slice(0, 19),
        diff: {
          chunks: [...removed.map((text) => ({ typ: "del", text })), ...added.map((text) => ({ typ: "ins", text }))]
        },
        page_category: withParents(topic.categories),
        page_types: withParents([type]),
        language,
        domain_rating: site.rating
      }
    }
  }
}

// ---- helpers ----

const MOST_MINUTES_OLD = 180

/** Firehose lists `/News` beside `/News/Politics`. */
const withParents = (labels: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(labels.flatMap((label) => [`/${label.split("/")[1]}`, label]))
]
