/** Generates items of feeds. */
import { pageUrl, sites } from "./addresses.ts"
import { seeded } from "./random.ts"
import { writer } from "./writer.ts"

/** Deterministic for a seed and times in milliseconds. */
export const items = (seed: number) => {
  const random = seeded(seed)
  const write = writer(random)
  let number = 0

  return (now: number) => {
    const topic = write.topic()
    const scene = write.scene(topic)
    const { text: title } = write.headline(scene)
    const site = write.deal(sites)
    const url = pageUrl(site, { section: topic.id, title, key: `${now.toString(36)}-${++number}`, now })
    return {
      feed: { url: `https://${site.host}/feed.xml`, title: site.host, format: "rss", language: scene.language },
      item: {
        id: url,
        url,
        title,
        summary: write.paragraph(scene),
        link_texts: [],
        authors: [],
        categories: [topic.id],
        published: new Date(now).toISOString(),
        enclosures: []
      },
      seen_at: new Date(now).toISOString()
    }
  }
}
