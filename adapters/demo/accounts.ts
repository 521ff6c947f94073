/** Who posts in the demo feed. Every account says of itself that it is made up; none is a person. */
import { Array as Arr } from "effect"
import type { Language } from "./phrases.ts"

export interface Account {
  readonly id: string
  readonly username: string
  readonly name: string
  readonly description: string
  readonly location: string
  readonly created_at: string
  readonly protected: boolean
  readonly verified: boolean
  readonly verified_type: "none" | "blue" | "business" | "government"
  readonly public_metrics: {
    readonly followers_count: number
    readonly following_count: number
    readonly tweet_count: number
    readonly listed_count: number
  }
}

export const PEOPLE: Readonly<Record<Language, Arr.NonEmptyReadonlyArray<Account>>> = {
  en: people(
    [
      "maya",
      "liam",
      "zoe",
      "noah",
      "ruth",
      "omar",
      "ivy",
      "theo",
      "nina",
      "jack",
      "aisha",
      "ben",
      "clara",
      "dev",
      "ella"
    ],
    ["London", "New York", "Dublin", "Toronto", "Sydney", "Chicago", "Seattle"]
  ),
  es: people(["lucia", "mateo", "carmen", "diego"], ["Madrid", "Barcelona", "Bogotá"]),
  de: people(["greta", "jonas", "lena", "felix"], ["Berlin", "Hamburg", "Wien"]),
  fr: people(["chloe", "hugo", "manon", "louis"], ["Paris", "Lyon", "Montréal"]),
  ja: people(["yuki", "haruto", "sakura", "ren"], ["Tokyo", "Osaka", "Kyoto"])
}

/** Stand-ins for accounts that a first rule may name. */
export const VOICES = {
  acme: voice("acme", { verified_type: "business", location: "Dublin" }),
  github: voice("GitHub", { verified_type: "business", location: "San Francisco" }),
  nasa: voice("NASA", { verified_type: "government", location: "Washington" }),
  openai: voice("OpenAI", { verified_type: "business", location: "San Francisco" }),
  tesla: voice("Tesla", { verified_type: "business", location: "Austin" })
}

// ---- helpers ----

function people(names: Arr.NonEmptyReadonlyArray<string>, cities: ReadonlyArray<string>) {
  const trades = ["Software engineer", "Teacher", "Nurse", "Journalist", "Barista", "Student", "Recruiter", "Gardener"]
  return Arr.map(names, (name, place): Account => {
    const isVerified = place % 4 === 0
    return {
      ...account(`demo_${name}`, 40 + (numberOf(name) % 9_000)),
      name: `${name.charAt(0).toUpperCase()}${name.slice(1)} (demo)`,
      description: `${trades[place % trades.length]}. Made up by Earshot's demo feed`,
      location: cities[place % cities.length] ?? "",
      verified: isVerified,
      verified_type: isVerified ? "blue" : "none"
    }
  })
}

function voice(username: string, given: Pick<Account, "verified_type" | "location">): Account {
  return {
    ...account(username, 900_000 + (numberOf(username) % 9_000_000)),
    ...given,
    name: `${username} (demo)`,
    description: "Not the real account: made up by Earshot's demo feed",
    verified: true
  }
}

function account(username: string, followers: number) {
  const number = numberOf(username)
  return {
    id: String(900_000_000 + (number % 99_999_999)),
    username,
    created_at: `20${10 + (number % 14)}-0${1 + (number % 9)}-1${number % 10}T08:00:00.000Z`,
    protected: false,
    public_metrics: {
      followers_count: followers,
      following_count: 20 + (number % 700),
      tweet_count: 100 + (number % 40_000),
      listed_count: Math.floor(followers / 150)
    }
  }
}

/** The same for the same name on every start. */
function numberOf(name: string): number {
  let hash = 0
  for (const sign of name) hash = (Math.imul(hash, 31) + sign.charCodeAt(0)) >>> 0
  return hash
}
