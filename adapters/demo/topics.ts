/** Topics of the demo feed: words that a first rule is likely to search for, and no fake news. */
import type { Array as Arr } from "effect"
import { type Account, officialAccounts } from "./accounts.ts"
import type { OtherLanguage } from "./phrases.ts"

type Texts = Arr.NonEmptyReadonlyArray<string>

export interface Topic {
  /** Also the section in addresses. */
  readonly id: string
  /** Relative frequency. */
  readonly weight: number
  /** A name and a thing make a subject: "NASA launch party". A duplicate entry is chosen twice as often. */
  readonly names: Texts
  readonly things: Texts
  /** The topic in other languages. */
  readonly nouns: Readonly<Record<OtherLanguage, string>>
  /** Without the `#`. Posts in other languages use the first one. */
  readonly tags: Texts
  readonly cashtags?: Texts
  /** The `page_category` labels, best match first. */
  readonly categories: Texts
  /** An account that writes this share of the English posts. The sentences are harmless. */
  readonly official?: { readonly account: Account; readonly share: number; readonly posts: Texts }
}

export const topics: Arr.NonEmptyReadonlyArray<Topic> = [
  {
    id: "space",
    weight: 3,
    names: ["NASA", "SpaceX"],
    things: [
      "launch party",
      "moon evening",
      "rocket workshop",
      "space quiz",
      "satellite spotting night",
      "astronaut talk"
    ],
    nouns: { es: "la NASA", de: "NASA", fr: "la NASA", ja: "NASA" },
    tags: ["NASA", "space", "SpaceX", "Moon"],
    categories: ["/Science", "/News/World_News"],
    official: {
      account: officialAccounts.nasa,
      share: 0.5,
      posts: [
        "The sky over the launch site is clear tonight.",
        "Light from the Sun takes about eight minutes to reach Earth.",
        "A day on Venus is longer than its year.",
        "How to tell a planet from a star: planets hardly twinkle.",
        "The space station goes round Earth about 16 times a day.",
        "Look up this {day}: the Moon is easy to find from {city}.",
        "A cloudy evening at the launch site. Good weather for reading about rockets.",
        "One year on Mars lasts about 687 days on Earth.",
        "Jupiter is so large that every other planet would fit inside it.",
        "Saturn would float in water, if there were a bath large enough."
      ]
    }
  },
  {
    id: "ai",
    weight: 2,
    names: ["OpenAI", "AI", "OpenAI", "AI", "ChatGPT", "machine learning"],
    things: ["reading group", "tutorial", "meetup", "chatbot workshop", "prompt class", "panel"],
    nouns: { es: "la inteligencia artificial", de: "KI", fr: "l'intelligence artificielle", ja: "AI" },
    tags: ["AI", "OpenAI", "AI", "ChatGPT", "LLM"],
    categories: ["/Computers_and_Electronics", "/News/Technology_News"],
    official: {
      account: officialAccounts.openai,
      share: 0.3,
      posts: [
        "A good prompt says who the answer is for.",
        "Ask for three sentences, then ask for one.",
        "Try it this {day}: let an AI quiz you on a chapter you have just read.",
        "An example in the prompt often helps more than another instruction.",
        "Hello to everyone at the machine learning meetup in {city}.",
        "Read the answer before you use it, and check what matters."
      ]
    }
  },
  {
    id: "crypto",
    weight: 2,
    names: ["Bitcoin", "crypto", "Bitcoin", "Ethereum"],
    things: ["meetup", "podcast evening", "explainer class", "history lecture", "wallet workshop", "reading group"],
    nouns: { es: "el bitcoin", de: "Bitcoin", fr: "le bitcoin", ja: "Bitcoin" },
    tags: ["Bitcoin", "crypto", "Bitcoin", "BTC", "blockchain"],
    cashtags: ["BTC", "BTC", "BTC", "ETH"],
    categories: ["/Finance/Investing", "/News/Business_News/Financial_Markets_News"]
  },
  {
    id: "climate",
    weight: 2,
    names: ["climate change", "renewable energy", "climate change", "climate"],
    things: ["exhibition", "lecture", "podcast club", "school project", "reading group", "weather station visit"],
    nouns: { es: "el cambio climático", de: "Klimawandel", fr: "le changement climatique", ja: "気候変動" },
    tags: ["ClimateChange", "climate", "solar", "sustainability"],
    categories: ["/Science", "/News/Weather"]
  },
  {
    id: "cars",
    weight: 2,
    names: ["Tesla", "electric vehicle", "Tesla"],
    things: ["road trip", "charging stop", "owners meetup", "test drive", "EV picnic", "photo tour"],
    nouns: { es: "los coches eléctricos", de: "Elektroautos", fr: "les voitures électriques", ja: "電気自動車" },
    tags: ["EV", "Tesla", "ElectricVehicles", "cars"],
    cashtags: ["TSLA"],
    categories: ["/Autos_and_Vehicles", "/News/Business_News/Company_News"],
    official: {
      account: officialAccounts.tesla,
      share: 0.3,
      posts: [
        "On a long drive, plan a break every two hours.",
        "Check your tyres before the road trip this {day}.",
        "An electric vehicle is quiet. Mind the birds and enjoy the song.",
        "Hello to the electric vehicle owners who meet in {city}."
      ]
    }
  },
  {
    id: "earthquakes",
    weight: 2,
    names: ["earthquake"],
    things: ["drill", "documentary evening", "lecture", "science lab visit", "museum tour", "magnitude quiz"],
    nouns: { es: "los terremotos", de: "Erdbeben", fr: "les séismes", ja: "地震" },
    tags: ["earthquake", "seismology", "quake", "preparedness"],
    categories: ["/Science", "/News/Local_News"]
  },
  {
    id: "football",
    weight: 1,
    names: ["football", "World Cup", "football", "Premier League"],
    things: ["quiz night", "sticker swap", "podcast club", "charity match", "museum tour", "picnic"],
    nouns: { es: "el fútbol", de: "Fußball", fr: "le football", ja: "サッカー" },
    tags: ["football", "WorldCup", "soccer"],
    categories: ["/Sports", "/News/Sports_News"]
  },
  {
    id: "elections",
    weight: 1,
    names: ["election"],
    things: [
      "explainer evening",
      "history lecture",
      "poll worker training",
      "vote counting exercise",
      "ballot museum visit"
    ],
    nouns: { es: "las elecciones", de: "Wahlen", fr: "les élections", ja: "選挙" },
    tags: ["election", "vote", "democracy"],
    categories: ["/Law_and_Government", "/News/Politics"]
  },
  {
    id: "coffee",
    weight: 1,
    names: ["coffee", "Acme coffee"],
    things: ["tasting", "break", "roasting class", "espresso workshop", "breakfast", "brewing class"],
    nouns: { es: "el café", de: "Kaffee", fr: "le café", ja: "コーヒー" },
    tags: ["coffee", "acme", "espresso"],
    categories: ["/Food_and_Drink", "/Shopping"],
    official: {
      account: officialAccounts.acme,
      share: 0.3,
      posts: [
        "Our coffee grinder is now a little quieter.",
        "Coffee tasting at the Acme shop in {city} this {day}.",
        "Which coffee goes with a rainy {day}?",
        "The Acme kettle has a new handle. The coffee is the same."
      ]
    }
  },
  {
    id: "films",
    weight: 1,
    names: ["movie", "Netflix", "movie", "Star Wars"],
    things: ["night", "marathon", "trivia quiz", "soundtrack evening", "poster swap", "watch party"],
    nouns: { es: "el cine", de: "Kino", fr: "le cinéma", ja: "映画" },
    tags: ["movie", "film", "Netflix"],
    categories: ["/Arts_and_Entertainment"]
  },
  {
    id: "music",
    weight: 1,
    names: ["music", "Taylor Swift", "music", "jazz"],
    things: ["listening party", "concert evening", "quiz", "rehearsal", "karaoke night", "vinyl swap"],
    nouns: { es: "la música", de: "Musik", fr: "la musique", ja: "音楽" },
    tags: ["music", "concert", "NowPlaying"],
    categories: ["/Arts_and_Entertainment"]
  },
  {
    id: "health",
    weight: 1,
    names: ["health", "mental health", "health", "fitness"],
    things: ["walk", "podcast club", "cooking class", "sleep workshop", "running club", "breakfast"],
    nouns: { es: "la salud", de: "Gesundheit", fr: "la santé", ja: "健康" },
    tags: ["health", "MentalHealth", "fitness"],
    categories: ["/Health", "/News/Health_News"]
  },
  {
    id: "open-source",
    weight: 1,
    names: ["open source", "Python", "GitHub", "Linux"],
    things: ["release party", "tutorial", "pull request evening", "meetup", "conference talk", "changelog reading"],
    nouns: { es: "el software libre", de: "Open Source", fr: "les logiciels libres", ja: "オープンソース" },
    tags: ["OpenSource", "GitHub", "Python", "JavaScript"],
    categories: ["/Computers_and_Electronics", "/News/Technology_News"],
    official: {
      account: officialAccounts.github,
      share: 0.3,
      posts: [
        "A good commit message says why.",
        "Open source tip: thank someone whose library you use.",
        "Small pull requests are read sooner.",
        "Hello to the Python meetup in {city} this {day}."
      ]
    }
  },
  {
    id: "security",
    weight: 1,
    names: ["security", "vulnerability", "security advisory", "cybersecurity"],
    things: ["training", "checklist evening", "CVE reading group", "phishing exercise", "workshop", "breakfast talk"],
    nouns: { es: "la ciberseguridad", de: "Cybersicherheit", fr: "la cybersécurité", ja: "セキュリティ" },
    tags: ["security", "infosec", "CVE"],
    categories: ["/Computers_and_Electronics", "/News/Technology_News"]
  },
  {
    id: "gadgets",
    weight: 1,
    names: ["iPhone", "Apple", "Google", "Android"],
    things: ["repair evening", "wallpaper contest", "photo walk", "shortcut class", "history lecture"],
    nouns: { es: "el iPhone", de: "iPhone", fr: "l'iPhone", ja: "iPhone" },
    tags: ["iPhone", "Apple", "Android", "tech"],
    cashtags: ["AAPL", "GOOGL"],
    categories: ["/Computers_and_Electronics", "/News/Technology_News"]
  },
  {
    id: "work",
    weight: 1,
    names: ["startup", "hiring", "remote work", "software engineer"],
    things: ["fair", "evening class", "breakfast", "mentoring session", "picnic", "guided tour"],
    nouns: { es: "el teletrabajo", de: "Homeoffice", fr: "le télétravail", ja: "リモートワーク" },
    tags: ["startup", "hiring", "RemoteWork"],
    categories: ["/Jobs_and_Education", "/News/Business_News"]
  }
]
