/** Generates page changes in Firehose's format. */
import { ascendingIds, pageUrl, sites } from "./addresses.ts"
import { phrases } from "./phrases.ts"
import { seeded } from "./random.ts"
import { writer } from "./writer.ts"

/** The tap id of every update: marks it as made up. */
export const TAP = "earshot-demo-feed"

/** Deterministic for a seed and times in milliseconds. Every page is unique, also across restarts. */
export const pages = (seed: number) => {
  const random = seeded(seed)
  const write = writer(random)
  // A separate writer, so that topics used in links do not count as used for pages.
  const linkWriter = writer(random)
  const idAt = ascendingIds()

  return (now: number) => {
    const topic = write.topic()
    const scene = write.scene(topic)
    const { language } = scene
    const { text: title, type } = write.headline(scene)
    const site = write.deal(sites)
    const key = idAt(now).toString(36)

    const added = [write.paragraph(scene)]
    if (random.chance(0.6)) added.push(write.paragraph({ ...scene, subject: write.subject(topic, language) }))
    if (random.chance(0.5)) {
      const other = linkWriter.topic()
      const { text } = linkWriter.headline({ ...scene, subject: linkWriter.subject(other, language) })
      const url = pageUrl(write.deal(sites), { section: other.id, title: text, key, now })
      added.push(`${phrases[language].related} [${text}](${url})`)
    }
    const removed = random.chance(0.4) ? [write.outdated(scene)] : []

    return {
      tap_id: TAP,
      matched_at: new Date(now).toISOString(),
      document: {
        url: pageUrl(site, { section: topic.id, title, key, now }),
        title,
        // Without a time zone, as on Firehose.
        publish_time: new Date(now - random.below(MAX_MINUTES_OLD) * 60_000).toISOString().slice(0, 19),
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

const MAX_MINUTES_OLD = 180

/** Firehose adds `/News` to `/News/Politics`. */
const withParents = (labels: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(labels.flatMap((label) => [`/${label.split("/")[1]}`, label]))
]
