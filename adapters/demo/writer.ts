/** Combines topics and templates to texts that hardly repeat within a minute. */
import { Array as Arr } from "effect"
import { type Headline, type Language, otherLanguages, phrases } from "./phrases.ts"
import type { Random } from "./random.ts"
import { type Topic, topics } from "./topics.ts"

type NonEmpty<A> = Arr.NonEmptyReadonlyArray<A>

/** The values for the placeholders of one text. */
export interface Scene {
  readonly language: Language
  readonly subject: string
  readonly city: string
  readonly day: string
}

export interface Writer {
  readonly topic: () => Topic
  /** Three of four are in English. */
  readonly scene: (topic: Topic) => Scene
  readonly subject: (topic: Topic, language: Language) => string
  /** A post by a person, maybe with an opener and a closer. */
  readonly remark: (scene: Scene) => string
  /** A post by a topic's official account. */
  readonly statement: (sentences: NonEmpty<string>, scene: Scene) => string
  readonly headline: (scene: Scene) => Headline
  readonly paragraph: (scene: Scene) => string
  readonly outdated: (scene: Scene) => string
  /** Like `Random.deck`, with one deck per list. */
  readonly deal: <A>(items: NonEmpty<A>) => A
}

export const writer = (random: Random): Writer => {
  const decks = new WeakMap<NonEmpty<unknown>, () => number>()
  const deal = <A>(items: NonEmpty<A>): A => {
    const nextIndex = decks.get(items) ?? random.deck(Arr.map(items, (_, index) => index))
    decks.set(items, nextIndex)
    return items[nextIndex()] ?? items[0]
  }

  // One deck per topic, so that a rule on a topic and a language matches soon.
  const useOtherLanguage = new Map(topics.map((topic) => [topic, random.deck([false, false, false, true])]))
  const subject = ({ names, things, nouns }: Topic, language: Language) =>
    language === "en"
      ? `${deal(names)} ${deal(things)}`
      : deal(phrases[language].subjects).replace("{noun}", () => nouns[language])
  const scene = (topic: Topic): Scene => {
    const language = useOtherLanguage.get(topic)?.() === true ? deal(otherLanguages) : "en"
    const { cities, days } = phrases[language]
    return { language, subject: subject(topic, language), city: random.pick(cities), day: random.pick(days) }
  }

  const maybe = (probability: number, make: () => string) => (random.chance(probability) ? [make()] : [])
  const remark = (scene: Scene) => {
    const { openers, posts, closers } = phrases[scene.language]
    return [
      ...maybe(0.4, () => fill(deal(openers), scene)),
      fill(deal(posts), scene),
      ...maybe(0.5, () => fill(deal(closers), scene))
    ].join(" ")
  }

  return {
    topic: random.deck(Arr.flatMap(topics, (topic) => Arr.replicate(topic, topic.weight))),
    scene,
    subject,
    remark,
    statement: (sentences, scene) => [fill(deal(sentences), scene), ...maybe(0.5, () => deal(endings))].join(" "),
    headline: (scene) => {
      const { text, type } = deal(phrases[scene.language].headlines)
      return { text: fill(text, scene), type }
    },
    paragraph: (scene) => fill(deal(phrases[scene.language].paragraphs), scene),
    outdated: (scene) => fill(deal(phrases[scene.language].outdated), scene),
    deal
  }
}

// ---- helpers ----

const fill = (template: string, { subject, city, day }: Scene): string => {
  const filled = template.replaceAll("{subject}", subject).replaceAll("{city}", city).replaceAll("{day}", day)
  return filled.charAt(0).toUpperCase() + filled.slice(1)
}

const endings: NonEmpty<string> = ["✨", "👋", "💡", "🙂", "Have a good day!", "More soon."]
