/** Sentence templates of the demo feed in five languages. `{subject}` is replaced by a subject. */
import type { Array as Arr } from "effect"

type Texts = Arr.NonEmptyReadonlyArray<string>

export type Language = "en" | OtherLanguage

export type OtherLanguage = "es" | "de" | "fr" | "ja"

export const otherLanguages: Arr.NonEmptyReadonlyArray<OtherLanguage> = ["es", "de", "fr", "ja"]

export interface Headline {
  readonly text: string
  /** The `page_type` of a page with this headline. */
  readonly type: string
}

interface Phrases {
  readonly openers: Texts
  readonly posts: Texts
  readonly closers: Texts
  readonly headlines: Arr.NonEmptyReadonlyArray<Headline>
  /** Added text of a page. */
  readonly paragraphs: Texts
  /** Removed text of a page. */
  readonly outdated: Texts
  /** Precedes a link to another page. */
  readonly related: string
  readonly cities: Texts
  readonly days: Texts
}

export const phrases: Readonly<Record<Language, Phrases>> = {
  en: {
    openers: [
      "Good morning!",
      "Small joys:",
      "Honest question:",
      "Note to self:",
      "Weekend plans:",
      "Update:",
      "It is that time of the year:",
      "Overheard on the train:",
      "Finally!",
      "Hello {city}!"
    ],
    posts: [
      "Spent the whole evening on our {subject} and lost track of time.",
      "Does anyone have a tip for my first {subject}?",
      "My notes from the {subject} this {day} are up.",
      "The {subject} at the library in {city} was better than I expected.",
      "My sister will not stop talking about her {subject}.",
      "Third {subject} this month and I would do it again.",
      "Is there a good {subject} near {city}?",
      "The next {subject} in {city} is on {day}.",
      "Still thinking about that {subject}.",
      "The neighbours invited us to their {subject} on {day}.",
      "I wrote a short guide to the perfect {subject}.",
      "Nothing beats a slow {day} and another {subject}.",
      "Somebody should write a book about the {subject} we had in {city}.",
      "We are looking for volunteers for the {subject} in {city}.",
      "Can we talk about how relaxing this {subject} is?",
      "Tried to explain my {subject} to grandpa. He asked better questions than I did.",
      "The kids drew a picture of our {subject}. It is on the fridge now.",
      "Every {day} somebody brings cake to our {subject}. Best tradition ever.",
      "One more {subject} and I need a longer weekend.",
      "Made a friend at the {subject} in {city} today.",
      "Counting the days to the next {subject}.",
      "I have opinions about this {subject} and none of them are short."
    ],
    closers: [
      "Who is in?",
      "Thoughts?",
      "Photos tomorrow.",
      "Highly recommended.",
      "No regrets.",
      "More on {day}.",
      "🙂",
      "🎉",
      "See you in {city}.",
      "Asking for a friend.",
      "Tell me yours."
    ],
    headlines: [
      { text: "What to know before your first {subject}", type: "/Article/How_to" },
      { text: "{city} looks forward to its {subject}", type: "/Article/News_Update" },
      { text: "Seven ideas for the next {subject}", type: "/Article/Listicle" },
      { text: "{subject}: a guide for beginners", type: "/Article/How_to" },
      { text: "In praise of the humble {subject}", type: "/Article/Opinion_Piece" },
      { text: "Frequently asked: the {subject} in {city}", type: "/Article/FAQ" },
      { text: "Show us your {subject}", type: "/User_Generated_Content/Forum_Thread" },
      { text: "A {day} in {city}: notes from the {subject}", type: "/Article" }
    ],
    paragraphs: [
      "The {subject} in {city} is open to everyone this {day}, and nobody needs to bring anything.",
      "Readers who wrote to us about the {subject} mostly asked where to begin.",
      "Start small: one hour is enough for a first {subject}.",
      "We have collected answers to the ten most frequent questions about the {subject}.",
      "A friendly crowd, good snacks and plenty of tea: the {subject} in {city} is easy to like.",
      "The doors for the {subject} open at ten. Those who come early get a chair.",
      "There is now a printed programme for the {subject}, with a map of {city} on the back.",
      "Most people find their first {subject} through a friend, and then bring the next one."
    ],
    outdated: [
      "The date of the {subject} will be announced soon.",
      "Tickets for the {subject} are sold out.",
      "The {subject} takes place on {day}.",
      "Free parking for visitors of the {subject}."
    ],
    related: "Read also:",
    cities: [
      "London",
      "New York",
      "Dublin",
      "Toronto",
      "Sydney",
      "Chicago",
      "Edinburgh",
      "Austin",
      "Seattle",
      "Auckland"
    ],
    days: ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
  },
  es: {
    openers: ["¡Buenos días!", "Pregunta:", "Plan para el {day}:", "¡Por fin!"],
    posts: [
      "Hoy he encontrado {subject} y me ha encantado.",
      "¿Alguien conoce {subject} en {city}?",
      "El {day} hay {subject} en {city}.",
      "Acabo de terminar {subject}. Muy recomendable.",
      "Busco {subject} para el fin de semana.",
      "Mi hermana me ha recomendado {subject}."
    ],
    closers: ["¿Quién se apunta?", "¿Qué os parece?", "Nos vemos en {city}.", "🙂"],
    headlines: [
      { text: "{subject}: lo que hay que saber", type: "/Article/How_to" },
      { text: "{city} prepara {subject}", type: "/Article/News_Update" },
      { text: "Cinco ideas para {subject}", type: "/Article/Listicle" }
    ],
    paragraphs: [
      "El {day} habrá {subject} en {city}, con entrada libre para todo el mundo.",
      "Muchos lectores nos preguntan por {subject}. Aquí están las respuestas más buscadas.",
      "Una hora basta para disfrutar de {subject}."
    ],
    outdated: ["Pronto se anunciará la fecha de {subject}.", "No quedan entradas para {subject}."],
    related: "Lea también:",
    cities: ["Madrid", "Barcelona", "Sevilla", "Bogotá", "Lima"],
    days: ["lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"]
  },
  de: {
    openers: ["Guten Morgen!", "Frage in die Runde:", "Endlich!", "Plan für {day}:"],
    posts: [
      "Heute entdeckt: {subject}.",
      "Kennt jemand {subject} in {city}?",
      "Am {day} gibt es {subject} in {city}.",
      "Ich suche noch {subject} fürs Wochenende.",
      "Meine Schwester empfiehlt {subject}. Ich bin gespannt.",
      "Endlich wieder {subject}!"
    ],
    closers: ["Wer ist dabei?", "Was meint ihr?", "Bis bald in {city}.", "🙂"],
    headlines: [
      { text: "{subject}: das sollte man wissen", type: "/Article/How_to" },
      { text: "{city} plant {subject}", type: "/Article/News_Update" },
      { text: "Fünf Ideen für {subject}", type: "/Article/Listicle" }
    ],
    paragraphs: [
      "Am {day} gibt es {subject} in {city}. Der Eintritt ist frei.",
      "Viele fragen uns nach Tipps für {subject}. Hier stehen die häufigsten Antworten.",
      "Eine Stunde reicht für {subject}."
    ],
    outdated: ["Der Termin steht noch nicht fest: {subject} in {city}.", "Ausverkauft: {subject} in {city}."],
    related: "Lesen Sie auch:",
    cities: ["Berlin", "Hamburg", "Wien", "Zürich", "Leipzig"],
    days: ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"]
  },
  fr: {
    openers: ["Bonjour !", "Petite question :", "Enfin !", "Programme de {day} :"],
    posts: [
      "Quelqu'un connaît {subject} à {city} ?",
      "Ce {day}, il y a {subject} à {city}.",
      "Je viens de découvrir {subject}, un vrai plaisir.",
      "Je cherche {subject} pour le week-end.",
      "Ma sœur m'a conseillé {subject}.",
      "Encore {subject} ? Volontiers !"
    ],
    closers: ["Qui vient ?", "Vos avis ?", "On se voit à {city}.", "🙂"],
    headlines: [
      { text: "{subject} : ce qu'il faut savoir", type: "/Article/How_to" },
      { text: "{city} prépare {subject}", type: "/Article/News_Update" },
      { text: "Cinq idées pour {subject}", type: "/Article/Listicle" }
    ],
    paragraphs: [
      "Ce {day}, il y aura {subject} à {city}, en entrée libre.",
      "Beaucoup de lecteurs nous demandent {subject}. Voici nos réponses.",
      "Une heure suffit pour {subject}."
    ],
    outdated: ["La date n'est pas encore connue : {subject} à {city}.", "Complet : {subject} à {city}."],
    related: "À lire aussi :",
    cities: ["Paris", "Lyon", "Bruxelles", "Genève", "Montréal"],
    days: ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"]
  },
  ja: {
    openers: ["おはようございます。", "質問です。", "やっと！", "{day}の予定："],
    posts: [
      "{city}で{subject}に行ってきた。",
      "{subject}がとても面白かった。",
      "{day}に{city}で{subject}があるらしい。",
      "おすすめの{subject}を教えてください。",
      "友だちに{subject}を紹介した。",
      "また{subject}に行きたい。"
    ],
    closers: ["一緒にどうですか。", "楽しみ。", "写真は明日。", "🙂"],
    headlines: [
      { text: "{subject}について知っておきたいこと", type: "/Article/How_to" },
      { text: "{city}で{subject}", type: "/Article/News_Update" },
      { text: "{subject}を楽しむ五つの方法", type: "/Article/Listicle" }
    ],
    paragraphs: [
      "{day}に{city}で{subject}があります。入場は無料です。",
      "{subject}についてよくある質問をまとめました。",
      "{subject}は一時間あれば十分に楽しめます。"
    ],
    outdated: ["{subject}の日程は近日中に発表します。", "{subject}は満席です。"],
    related: "関連記事：",
    cities: ["東京", "大阪", "京都", "札幌", "福岡"],
    days: ["月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日", "日曜日"]
  }
}

/** Subject templates of the other languages; an English subject is built from a name and a thing (`topics.ts`). */
export const subjects: Readonly<Record<OtherLanguage, Texts>> = {
  es: ["una charla sobre {noun}", "un libro sobre {noun}", "una exposición sobre {noun}", "un pódcast sobre {noun}"],
  // Feminine and neuter only: their article is the same in the accusative.
  de: [
    "eine Ausstellung zum Thema {noun}",
    "ein Buch zum Thema {noun}",
    "eine Führung zum Thema {noun}",
    "ein Seminar zum Thema {noun}"
  ],
  fr: ["une conférence sur {noun}", "un livre sur {noun}", "une exposition sur {noun}", "un podcast sur {noun}"],
  ja: ["{noun}の展示会", "{noun}の勉強会", "{noun}の講演会", "{noun}のイベント"]
}
