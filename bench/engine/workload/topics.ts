/** Topics: words that occur together, and collocations, so that rules match. */
import { Random, Zipf } from "../../../fixtures/distributions.ts"
import { NAMES, nameAt, WORDS, wordAt } from "./words.ts"

const TOPICS = 2_000
const TOPIC_SIZE = 300
const COLLOCATIONS = 60
const NAME_SHARE = 0.04
const TOPIC_SHARE = 0.22
/** Share of draws; each yields two or three words. */
const COLLOCATION_SHARE = 0.013

export interface Topic {
  /** Ranks, the topic's most frequent words first. */
  readonly words: ReadonlyArray<number>
  readonly collocations: ReadonlyArray<ReadonlyArray<number>>
}

/** Some topics are far more frequent. */
export const drawTopic = (random: Random): Topic => topics[topicRanks.draw(random)] ?? noTopic

export const topicWord = (random: Random, topic: Topic): string => wordAt(topic.words[topicWords.draw(random)] ?? 0)

/** Words of a text on one topic, in lower case. */
export const writeText = (random: Random, length: number): Array<string> => {
  const topic = drawTopic(random)
  const words: Array<string> = []
  while (words.length < length) {
    const kind = random.next()
    if (kind < NAME_SHARE) {
      words.push(nameAt(random.below(NAMES)))
    } else if (kind < NAME_SHARE + TOPIC_SHARE) {
      words.push(topicWord(random, topic))
    } else if (kind < NAME_SHARE + TOPIC_SHARE + COLLOCATION_SHARE) {
      words.push(...random.pick(topic.collocations).map(wordAt))
    } else {
      words.push(wordAt(vocabulary.draw(random)))
    }
  }
  return words
}

/** Adds capitals and full stops. */
export const sentence = (words: ReadonlyArray<string>): string =>
  words
    .map((word, index) => {
      const shown = index % 9 === 0 ? word.charAt(0).toUpperCase() + word.slice(1) : word
      return index % 9 === 8 ? `${shown}.` : shown
    })
    .join(" ")

// ---- helpers ----

const vocabulary = new Zipf(WORDS, 1.05, 2.7)
const topicRanks = new Zipf(TOPICS, 0.8, 2)
const topicWords = new Zipf(TOPIC_SIZE, 0.8, 2)
const topics = makeTopics()
const noTopic: Topic = { words: [], collocations: [] }

function makeTopics(): ReadonlyArray<Topic> {
  const random = new Random(11)
  return Array.from({ length: TOPICS }, () => {
    const words = Array.from({ length: TOPIC_SIZE }, () => random.magnitude(100, WORDS))
    const collocations = Array.from({ length: COLLOCATIONS }, () =>
      Array.from({ length: random.chance(0.7) ? 2 : 3 }, () => random.pick(words))
    )
    return { words, collocations }
  })
}
