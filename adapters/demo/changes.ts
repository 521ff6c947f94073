/** Generates changes of wikis, as Wikimedia's stream `recentchange` has them. */
import type { Array as Arr } from "effect"
import { seeded } from "./random.ts"
import { writer } from "./writer.ts"

/** Deterministic for a seed and times in milliseconds. Every change is unique, also across restarts. */
export const changes = (seed: number) => {
  const random = seeded(seed)
  const write = writer(random)
  let offset = 0

  const hex = (length: number) => Array.from({ length }, () => random.below(16).toString(16)).join("")

  return (now: number) => {
    const topic = write.topic()
    const scene = write.scene(topic)
    const { language } = scene
    const isBot = random.chance(0.4)
    const title = write.subject(topic, language)
    const server_name = `${language}.wikipedia.org`
    const title_url = `https://${server_name}/wiki/${encodeURIComponent(title.replaceAll(" ", "_"))}`
    const time = now.toString(16).padStart(12, "0")
    const old = 2_000 + random.below(40_000)
    const user = write.deal(isBot ? bots : users)
    return {
      $schema: "/mediawiki/recentchange/1.0.0",
      meta: {
        uri: title_url,
        id: `${time.slice(0, 8)}-${time.slice(8)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
        dt: new Date(now).toISOString(),
        domain: server_name,
        stream: "mediawiki.recentchange",
        topic: "eqiad.mediawiki.recentchange",
        partition: 0,
        offset: offset++
      },
      type: "edit",
      namespace: 0,
      title,
      title_url,
      comment: `/* ${topic.id} */ ${write.headline(scene).text}`,
      timestamp: Math.floor(now / 1_000),
      // Hidden on some pages.
      ...(random.chance(0.98) && { user }),
      bot: isBot,
      minor: random.chance(0.3),
      length: { old, new: Math.max(0, old + random.below(2_000) - 600) },
      revision: { old: now, new: now + 1 },
      server_url: `https://${server_name}`,
      server_name,
      wiki: `${language}wiki`,
      notify_url: `https://${server_name}/w/index.php?diff=${now + 1}&oldid=${now}`
    }
  }
}

// ---- helpers ----

const bots: Arr.NonEmptyReadonlyArray<string> = ["ExampleBot", "TidyBot", "LinkBot"]
const users: Arr.NonEmptyReadonlyArray<string> = ["Example", "Ada", "~2026-12345-67", "192.0.2.17", "Grace"]
