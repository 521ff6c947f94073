/** The most expensive rules that are accepted, and events made for them. */
import type { Random } from "./workload/random.ts"

/** Rules on `firehose`. Different seeds give different rules of about the same cost. */
export const hostileRules: Readonly<Record<string, (random: Random) => string>> = {
  "regex, dense": (random) => `title:/.*a.{${random.between(1_300, 1_400)}}/`,
  "regex, links": (random) =>
    `title:/(${times(40, (n) => `.*${random.pick(letters)}.{${n + 1}}`).join("|")}).{${random.between(1, 9)}}q/`,
  "regex, on the address": (random) => `url:/.*[ab].{${random.between(1_300, 1_400)}}/`,
  "regex, union": (random) => `title:/.*(${times(250, () => wordOf(random, 7)).join("|")})x/`,
  "regex, optional": (random) => `title:/(${random.pick(letters)}?b?){${random.between(30, 45)}}c/`,
  "wildcard with ?": (random) =>
    `title:*${times(60, () => `${random.pick(["a", "b"])}?`).join("")}${random.pick(letters)}`,
  wildcards: (random) => `title:(${times(370, () => `*${wordOf(random, 3)}*`).join(" OR ")})`,
  "fuzzy words": (random) => `title:(${times(90, () => `${wordOf(random, 5)}~2`).join(" OR ")})`,
  "long phrase": (random) => `title:"${"a b ".repeat(90)}${wordOf(random, 3)} a a"`,
  "sloppy phrase": (random) =>
    `title:"${"a ".repeat(150)}b ${random.pick(["b", "c"])} b"~${random.between(900, 1_000)}`,
  phrases: (random) => `title:(${times(45, () => `"${"a b ".repeat(14)}${random.pick(letters)} a a"`).join(" OR ")})`,
  words: (random) => `title:a AND NOT title:(${times(900, () => wordOf(random, 4)).join(" OR ")})`
}

/** Texts of about `length` bytes that make them slow. */
export const hostileTexts: Readonly<Record<string, (random: Random, length: number) => string>> = {
  "one word": (random, length) => times(length, () => random.pick(["a", "b"])).join(""),
  "one letter": (_, length) => "a".repeat(length),
  "two words": (_, length) => "a b ".repeat(length / 4),
  "two words, unequal": (_, length) => `${"a ".repeat(1_500)}b `.repeat(Math.ceil(length / 3_002)).slice(0, length),
  "short words": (random, length) => times(length / 6, () => wordOf(random, 5)).join(" "),
  "distinct words": (_, length) => times(length / 6, (n) => n.toString(26).padStart(5, "z")).join(" "),
  ideographs: (random, length) => times(length / 3, () => String.fromCodePoint(0x4e00 + random.below(5_000))).join("")
}

// ---- helpers ----

const letters = [..."abcdefgh"]

const times = <A>(count: number, one: (index: number) => A): Array<A> =>
  Array.from({ length: Math.floor(count) }, (_, index) => one(index))

const wordOf = (random: Random, length: number): string => times(length, () => random.pick(letters)).join("")
