/** The accounts of the demo feed. Every profile states that the account is not real. */
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

export const people: Readonly<Record<Language, Arr.NonEmptyReadonlyArray<Account>>> = {
  en: makePeople(
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
  es: makePeople(["lucia", "mateo", "carmen", "diego"], ["Madrid", "Barcelona", "Bogotá"]),
  de: makePeople(["greta", "jonas", "lena", "felix"], ["Berlin", "Hamburg", "Wien"]),
  fr: makePeople(["chloe", "hugo", "manon", "louis"], ["Paris", "Lyon", "Montréal"]),
  ja: makePeople(["yuki", "haruto", "sakura", "ren"], ["Tokyo", "Osaka", "Kyoto"])
}

/** Substitutes for well-known accounts that a first rule may name. */
export const officialAccounts = {
  acme: official("acme", { verified_type: "business", location: "Dublin" }),
  github: official("GitHub", { verified_type: "business", location: "San Francisco" }),
  nasa: official("NASA", { verified_type: "government", location: "Washington" }),
  openai: official("OpenAI", { verified_type: "business", location: "San Francisco" }),
  tesla: official("Tesla", { verified_type: "business", location: "Austin" })
}

// ---- helpers ----

function makePeople(names: Arr.NonEmptyReadonlyArray<string>, cities: ReadonlyArray<string>) {
  const trades = ["Software engineer", "Teacher", "Nurse", "Journalist", "Barista", "Student", "Recruiter", "Gardener"]
  return Arr.map(names, (name, index): Account => {
    const isVerified = index % 4 === 0
    return {
      ...account(`demo_${name}`, 40 + (hashOf(name) % 9_000)),
      name: `${name.charAt(0).toUpperCase()}${name.slice(1)} (demo)`,
      description: `${trades[index % trades.length]}. Made up by Earshot's demo feed`,
      location: cities[index % cities.length] ?? "",
      verified: isVerified,
      verified_type: isVerified ? "blue" : "none"
    }
  })
}

function official(username: string, details: Pick<Account, "verified_type" | "location">): Account {
  return {
    ...account(username, 900_000 + (hashOf(username) % 9_000_000)),
    ...details,
    name: `${username} (demo)`,
    description: "Not the real account: made up by Earshot's demo feed",
    verified: true
  }
}

function account(username: string, followers: number) {
  const hash = hashOf(username)
  return {
    id: String(900_000_000 + (hash % 99_999_999)),
    username,
    created_at: `20${10 + (hash % 14)}-0${1 + (hash % 9)}-1${hash % 10}T08:00:00.000Z`,
    protected: false,
    public_metrics: {
      followers_count: followers,
      following_count: 20 + (hash % 700),
      tweet_count: 100 + (hash % 40_000),
      listed_count: Math.floor(followers / 150)
    }
  }
}

/** Stable across restarts. */
function hashOf(name: string): number {
  let hash = 0
  for (const character of name) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) >>> 0
  return hash
}
