/** Puts names, things and sentences together, so that no two texts of a minute are alike. */
import { Array as Arr } from "effect"
import { ABROAD, type Headline, type Language, PHRASES, SUBJECTS } from "./phrases.ts"
import type { Random } from "./random.ts"
import { TOPICS, type Topic } from "./topics.ts"

type NonEmpty<A> = Arr.NonEmptyReadonlyArray<A>

/** What the sentences of one text have in common. */
export interface Scene {
  readonly language: Language
  readonly subject: string
  readonly city: string
  readonly day: string
}

export interface Writer {
  readonly topic: () => Topic
  /** In English three times of four. */
  readonly scene: (topic: Topic) => Scene
  readonly subject: (topic: Topic, language: Language) => string
  /** A person's sentence, with something before or after it. */
  readonly remark: (scene: Scene) => string
  /** One of the sentences of a topic's own account. */
  readonly statement: (sentences: NonEmpty<string>, scene: Scene) => string
  readonly headline: (scene: Scene) => Headline
  readonly paragraph: (scene: Scene) => string
  readonly outdated: (scene: Scene) => string
  /** All items of a list come before one comes again, wherever the list is dealt from. */
  readonly deal: <A>(items: NonEmpty<A>) => A
}

export const writer = (random: Random): Writer => {
  const decks = new WeakMap<NonEmpty<unknown>, () => number>()
  const deal = <A>(items: NonEmpty<A>): A => {
    const places = decks.get(items) ?? random.deck(Arr.map(items, (_, place) => place))
    decks.set(items, places)
    return items[places()] ?? items[0]
  }

  // Dealt for each topic: a rule in English, or on one topic, never waits out a run of bad luck.
  const isAbroad = new Map(TOPICS.map((topic) => [topic, random.deck([false, false, false, true])]))
  const subject = ({ names, things, nouns }: Topic, language: Language) =>
    language === "en"
      ? `${deal(names)} ${deal(things)}`
      : deal(SUBJECTS[language]).replace("{noun}", () => nouns[language])
  const scene = (topic: Topic): Scene => {
    const language = isAbroad.get(topic)?.() === true ? deal(ABROAD) : "en"
    const { cities, days } = PHRASES[language]
    return { language, subject: subject(topic, language), city: random.pick(cities), day: random.pick(days) }
  }

  const perhaps = (share: number, make: () => string) => (random.chance(share) ? [make()] : [])
  const remark = (scene: Scene) => {
    const { openers, posts, closers } = PHRASES[scene.language]
    return [
      ...perhaps(0.4, () => fill(deal(openers), scene)),
      fill(deal(posts), scene),
      ...perhaps(0.5, () => fill(deal(closers), scene))
    ].join(" ")
  }

  return {
    topic: random.deck(Arr.flatMap(TOPICS, (topic) => Arr.replicate(topic, topic.weight))),
    scene,
    subject,
    remark,
    statement: (sentences, scene) => [fill(deal(sentences), scene), ...perhaps(0.5, () => deal(SIGNS))].join(" "),
    headline: (scene) => {
      const { text, type } = deal(PHRASES[scene.language].headlines)
      return { text: fill(text, scene), type }
    },
    paragraph: (scene) => fill(deal(PHRASES[scene.language].paragraphs), scene),
    outdated: (scene) => fill(deal(PHRASES[scene.language].outdated), scene),
    deal
  }
}

// ---- helpers ----

const fill = (template: string, { subject, city, day }: Scene): string => {
  const filled = template.replaceAll("{subject}", subject).replaceAll("{city}", city).replaceAll("{day}", day)
  return filled.charAt(0).toUpperCase() + filled.slice(1)
}

const SIGNS: NonEmpty<string> = ["✨", "👋", "💡", "🙂", "Have a good day!", "More soon."]
