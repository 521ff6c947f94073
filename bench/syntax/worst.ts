/**
 * Searches for the texts that take the most work in each analysis of filters, up to the longest text that a language
 * accepts. Prints per analysis the most CPU time, the longest stretch, in which the process does nothing else, and the
 * growth from half the length. Exits with 1 if one is above its limit. `npm run worst:syntax [-- texts seed | --smoke]`
 */
import process from "node:process"
import { Either } from "effect"
import { explainFilterInTurns } from "../../core/languages/explainFilter.ts"
import { firehose } from "../../core/languages/firehose.ts"
import type { Language } from "../../core/languages/Language.ts"
import { xEnterprise } from "../../core/languages/x.ts"
import { fixedTextInTurns } from "../../core/rules/fixedText.ts"
import type { Checked } from "../../core/syntax/expression/checked.ts"
import type { PlatformEvent } from "../../core/syntax/expression/eventFields.ts"
import { isTarget, type TargetLanguage } from "../../core/syntax/translation/translate.ts"
import { translateWithWitnessesInTurns } from "../../core/syntax/translation/witness/witnesses.ts"
import type { Turns } from "../../core/work/turns.ts"
import { Random } from "../../fixtures/distributions.ts"
import { cpuMicros, isSmoke } from "../figures.ts"

/** Of one analysis, in milliseconds. */
const MAX_CPU = 200
const MAX_STRETCH = 20

/** As `inTurns` does it, in milliseconds. */
const YIELDS_AFTER = 4

/** From half the length: n log n gives 2.2, n² gives 4. Below `MIN_GROWING` milliseconds the clock decides. */
const MAX_GROWTH = 3
const MIN_GROWING = 5

/** Texts before the first measured one, for the compiler. */
const WARM_UP = 30

/** Of the worst texts, for each analysis and measure. */
const KEPT = 6
const REPEATS = 12

const [texts = isSmoke ? 200 : 100_000, seed = 1] = process.argv.slice(2).filter(isNumber).map(Number)

/** How a text of any length is made: pieces one after the other, in nested groups, between a start and an end. */
interface Recipe {
  readonly platform: Platform
  readonly pieces: ReadonlyArray<string>
  readonly joiner: string
  readonly depth: number
  readonly start: string
  readonly end: string
}

interface Platform {
  readonly language: Language
  readonly other: Language & TargetLanguage
  readonly maxLength: number
}

interface Cost {
  readonly cpu: number
  readonly stretch: number
}

interface Worst extends Cost {
  readonly recipe: Recipe
  readonly length: number
}

const MEASURES = {
  cpu: ({ cpu }: Worst) => cpu,
  stretch: ({ stretch }: Worst) => stretch,
  density: ({ cpu, length }: Worst) => cpu / length
}
const measures = ["cpu", "stretch", "density"] as const

const X = platformOf(xEnterprise, firehose)
const FIREHOSE = platformOf(firehose, xEnterprise)
const PLATFORMS = [X, FIREHOSE]

/** In a piece: a number that grows, and a Chinese character that changes. */
const NUMBER = "№"
const CHARACTER = "字"

/** Words and characters of many scripts. */
const WORDS =
  "a|cat|the|中|中国|字|字字|カ|カタカナ|한|한국|ก|กิ่|ไทย|שלום|ש|سلام|é|e\u0301\u0301\u0301|🍕|👩‍👩‍👧|🇩🇪|❤️|1️⃣|a№|№|№.№|a.b|a'b|a_b|a-b|_|σς|İ|ǅ|\u0e33|𝒳|\u200d|x.com|-a№|-字".split(
    "|"
  )

/** Operators of both languages, and what neither accepts. */
const OPERATORS =
  '"a b"|"a 中 №"|"a b"~3|"№ the"~9|#tag№|#中|@user№|$TSLA|from:nasa№|to:a№|lang:en|is:retweet|-is:retweet|has:links|sample:10|followers_count:1..№|point_radius:[1 2 3km]|bounding_box:[1 2 3 4]|url:"a.b№"|url:x№|url_contains:a№|url_title:"a №"|place:"a №"|title:x№|title:"the №"|added:字|removed:字字|added_anchor:a№|url:*\\/x№\\/*|url:*a№*|url:/a[0-9]+№/|url:/(a\\|b)*/|domain:x№.com|dr:[1 TO 9]|recent:24h|publish_time:[2025-01-01T00\\:00\\:00 TO *]|page_type:"/Article"|page_category:"/News"|language:en|*:*|NOT a№|NOT (a OR 字)|(a№ OR b)|(a№ AND NOT b)|(a -b№)|+a|!a|a~|abc№~2|a*|*a№*|a?b№|a^2|&&|||AND|OR|NOT|and|or|not|(|)|()|"|\'|\'a|a\'|“a”|‘a’|[|]|{|}|~|^|:|::|/|\\|\\a|titel:x|form:a|lang:xx|language:xx|has:linkz|is:retwet|page_type:"/Artcle"|recent:1y|dr:x|dr:[9 TO 1]|—|…|%|,|;|\t|\u0001|\u200b|\u202e|\u00a0|\ud800|\u3000'.split(
    "|"
  )

/** Of regular expressions, which only one of the languages has. */
const PATTERN_PARTS =
  'a 字 字字 -字 a№ . .* @ # ~ & ~( (a (a& () (ab) (字字)* (a字)? (a|字) (a|b)* 字* b? {2} {1,3} {0,20} * + ? | [a-z] [^a] [^字] [字] [a字] [0-9]{3} <1-9> <1-99999> "a" \\d'.split(
    " "
  )
const PATTERN_START = "url:/"
const PATTERN_END = "/"

const ENDS = [
  "",
  "",
  "",
  "cat",
  '"',
  "(",
  ")",
  "#",
  "title:",
  'title:"',
  "url:/",
  "-",
  "NOT ",
  "recent:24h AND ",
  "*:* "
]
const JOINERS = ["", " ", " OR ", " AND ", " AND NOT ", " -", "  ", ", "]

interface Sample {
  readonly text: string
  readonly platform: Platform
  readonly checked: Checked
}

/** What the server runs on a filter, one after the other. */
const ANALYSES: Readonly<Record<string, (sample: Sample) => Turns<unknown>>> = {
  *check({ text, platform: { language } }) {
    return yield* language.checkInTurns(text)
  },
  *fixes({ text, platform: { language }, checked: { issues } }) {
    return yield* fixedTextInTurns(language.checkInTurns, { text, issues })
  },
  *"translation, witnesses"({ text, platform: { language, other }, checked: { rule } }) {
    return rule && (yield* translateWithWitnessesInTurns({ language, text }, other))
  },
  *explanation({ text, platform: { language }, checked: { rule } }) {
    const event = eventOf(language, text)
    return rule && (yield* explainFilterInTurns({ language, text, expression: rule.expression }, event))
  },
  *"explanation of a miss"({ text, platform: { language }, checked: { rule } }) {
    const event = UNRELATED.get(language)
    return rule && event && (yield* explainFilterInTurns({ language, text, expression: rule.expression }, event))
  }
}

/** The analyses of one request, which has one event. */
const REQUEST = "all of one request"
const inRequest = Object.keys(ANALYSES).filter((name) => name !== "explanation")

const UNRELATED = new Map(
  PLATFORMS.map(({ language }) => [language, eventOf(language, "hello world, nothing to see here 新 🍔 ".repeat(10))])
)

const random = new Random(seed)

const worst = search()
const failures = report(worst)
for (const failure of failures) console.log(failure)
process.exitCode = failures.length === 0 ? 0 : 1

// ---- helpers ----

/** The worst texts of one analysis, by three measures, the worst first. */
type Found = Readonly<Record<Measure, Array<Worst>>>

type Measure = keyof typeof MEASURES

/** Hill climbing: every second text is a variant of one of the worst. */
function search(): ReadonlyMap<string, Found> {
  const found = new Map(
    [...Object.keys(ANALYSES), REQUEST].map((name): [string, Found] => [name, { cpu: [], stretch: [], density: [] }])
  )
  let accepted = 0
  const started = performance.now()
  console.log(`${texts} texts, seed ${seed}`)
  for (let count = -WARM_UP; count < texts; count++) {
    const recipe = recipeFor(Math.max(0, count), [...found.values()])
    const length = Math.ceil(recipe.platform.maxLength / random.pick([1, 2, 4, 8, 16]))
    const sample = sampleOf(recipe, length)
    if (count >= 0 && sample.checked.rule !== undefined) accepted++
    for (const [name, cost] of costsOf(sample)) {
      if (count >= 0) keep(found.get(name), { recipe, length, ...cost }, () => costsOf(sample, name).get(name) ?? cost)
    }
    if (process.stderr.isTTY && count % 100 === 0) process.stderr.write(`\r${((100 * count) / texts).toFixed(1)} %`)
  }
  if (process.stderr.isTTY) process.stderr.write("\r")
  const seconds = ((performance.now() - started) / 1_000).toFixed(0)
  console.log(`${texts} texts, ${accepted} of them valid filters, in ${seconds} s\n`)
  return found
}

/** Keeps the text if it is among the worst. Measures it again first: other work of the process or machine may have slowed it. */
function keep(found: Found | undefined, measured: Worst, again: () => Cost): void {
  if (found === undefined) return
  const isAmongWorst = (text: Worst) =>
    measures.some((measure) => {
      const last = found[measure][KEPT - 1]
      return last === undefined || MEASURES[measure](text) > MEASURES[measure](last)
    })
  if (!isAmongWorst(measured)) return
  const surer = { ...measured, ...least([measured, again(), again()]) }
  for (const measure of measures) {
    const list = found[measure]
    list.push(surer)
    list.sort((a, b) => MEASURES[measure](b) - MEASURES[measure](a))
    list.length = Math.min(list.length, KEPT)
  }
}

/** The worst of them, each measured several times more. */
function surest(name: string, list: ReadonlyArray<Worst>, measure: Measure): Worst | undefined {
  return list
    .map((text) => ({ ...text, ...least([text, ...repeated(name, sampleOf(text.recipe, text.length))]) }))
    .sort((a, b) => MEASURES[measure](b) - MEASURES[measure](a))[0]
}

/** Returns what is above its limit. */
function report(found: ReadonlyMap<string, Found>): ReadonlyArray<string> {
  const problems: Array<string> = []
  console.log(`${"analysis".padEnd(24)} ${"most CPU".padStart(10)} ${"stretch".padStart(10)} ${"growth".padStart(8)}`)
  for (const [name, lists] of found) {
    const [cpu, stretch, density] = measures.map((measure) => surest(name, lists[measure], measure))
    if (cpu === undefined || stretch === undefined || density === undefined) continue
    const growths = [cpu, stretch, density].map((text) => ({ ...text, growth: growthOf(name, text.recipe) }))
    const fastest = growths.reduce((a, b) => (b.growth > a.growth ? b : a))
    const columns = [`${cpu.cpu.toFixed(1)} ms`, `${stretch.stretch.toFixed(1)} ms`]
    console.log(
      `${name.padEnd(24)} ${columns.map((column) => column.padStart(10)).join(" ")} ${fastest.growth.toFixed(1).padStart(8)}`
    )
    console.log(`  ${describe(cpu)}`)
    if (cpu.cpu > MAX_CPU) problems.push(`"${name}" takes ${cpu.cpu.toFixed(0)} ms: ${describe(cpu)}`)
    if (stretch.stretch > MAX_STRETCH) {
      problems.push(`"${name}" holds the process for ${stretch.stretch.toFixed(0)} ms: ${describe(stretch)}`)
    }
    if (fastest.growth > MAX_GROWTH) {
      problems.push(`"${name}" grows by ${fastest.growth.toFixed(1)} for twice the length: ${describe(fastest)}`)
    }
  }
  return problems.map((problem) => `FAILED: ${problem}`)
}

/** How much longer the longest text takes than one of half its length. 0 if it takes little time, or their errors differ. */
function growthOf(name: string, recipe: Recipe): number {
  const { maxLength } = recipe.platform
  const samples = [maxLength >> 1, maxLength].map((length) => sampleOf(recipe, length))
  const [halfErrors, errors] = samples.map(({ checked }) => errorsOf(checked))
  const [half = 0, whole = 0] = samples.map((sample) => least(repeated(name, sample)).cpu)
  return whole < MIN_GROWING || halfErrors !== errors ? 0 : whole / half
}

/** A text with other errors is analysed in another way. */
function errorsOf({ issues }: Checked): string {
  const errors = issues.filter(({ severity }) => severity === "error")
  return [...new Set(errors.map(({ code }) => code))].join(" ")
}

function sampleOf(recipe: Recipe, length: number): Sample {
  const text = textOf(recipe, length)
  return { text, platform: recipe.platform, checked: recipe.platform.language.check(text) }
}

function repeated(name: string, sample: Sample): ReadonlyArray<Cost> {
  return Array.from({ length: REPEATS }, () => costsOf(sample, name).get(name) ?? { cpu: 0, stretch: 0 })
}

/** By analysis. `only`: leaves out what is not needed for this one. */
function costsOf(sample: Sample, only = REQUEST): ReadonlyMap<string, Cost> {
  const costs = new Map<string, Cost>()
  for (const [name, analysis] of Object.entries(ANALYSES)) {
    if (only === REQUEST || only === name) costs.set(name, costOf(analysis(sample)))
  }
  const parts = inRequest.flatMap((name) => costs.get(name) ?? [])
  const cpu = parts.reduce((sum, part) => sum + part.cpu, 0)
  if (only === REQUEST) costs.set(REQUEST, { cpu, stretch: Math.max(...parts.map(({ stretch }) => stretch)) })
  return costs
}

function costOf(turns: Turns<unknown>): Cost {
  const started = cpuMillis()
  let since = { wall: performance.now(), cpu: started }
  let stretch = 0
  for (let isDone = false; !isDone; ) {
    isDone = turns.next().done === true
    const now = { wall: performance.now(), cpu: cpuMillis() }
    // Other processes may take wall time; the garbage collector and the compiler take CPU time on other threads.
    const took = Math.min(now.wall - since.wall, now.cpu - since.cpu)
    stretch = Math.max(stretch, took)
    if (took >= YIELDS_AFTER) since = now
  }
  return { cpu: cpuMillis() - started, stretch }
}

function least(costs: ReadonlyArray<Cost>): Cost {
  return { cpu: Math.min(...costs.map(({ cpu }) => cpu)), stretch: Math.min(...costs.map(({ stretch }) => stretch)) }
}

/** First each piece alone, in both languages and with each way to join it, then random ones. */
function recipeFor(count: number, found: ReadonlyArray<Found>): Recipe {
  const known = random.pick(found)[random.pick(measures)]
  const best = known.length === 0 ? undefined : random.pick(known).recipe
  if (best !== undefined && count % 2 === 1) return variantOf(best)
  const platform = (count >> 1) % 2 === 0 ? X : FIREHOSE
  const plain = { platform, depth: 0, start: "", end: "" }
  const alone = [...WORDS, ...OPERATORS][count >> 2]
  if (alone !== undefined) return { ...plain, pieces: [alone], joiner: random.pick(JOINERS) }
  if (random.next() < 0.2) {
    const pieces = Array.from({ length: 1 + random.below(4) }, () => random.pick(PATTERN_PARTS))
    return { platform: FIREHOSE, pieces, joiner: "", depth: 0, start: PATTERN_START, end: PATTERN_END }
  }
  const kinds = random.next() < 0.5 ? WORDS : [...WORDS, ...OPERATORS]
  return {
    ...plain,
    pieces: Array.from({ length: 1 + random.below(4) }, () => random.pick(kinds)),
    joiner: random.pick(JOINERS),
    depth: random.next() < 0.3 ? random.below(60) : 0,
    start: random.pick(ENDS),
    end: random.pick(ENDS)
  }
}

function variantOf(recipe: Recipe): Recipe {
  const { pieces } = recipe
  const at = random.below(pieces.length + 1)
  const piece = random.pick(recipe.end === PATTERN_END ? PATTERN_PARTS : [...WORDS, ...OPERATORS])
  switch (random.below(6)) {
    case 0:
      return { ...recipe, joiner: random.pick(JOINERS) }
    case 1:
      return { ...recipe, depth: random.pick([0, 1, 2, 10, 45, 50, 99]) }
    case 2:
      return { ...recipe, start: random.pick(ENDS), end: random.pick(ENDS) }
    case 3:
      return { ...recipe, pieces: pieces.length > 1 ? pieces.toSpliced(at, 1) : [piece] }
    default:
      return { ...recipe, pieces: pieces.toSpliced(at, random.below(2), piece).slice(0, 12) }
  }
}

/** Closed groups, unless there is no room for them. */
function textOf({ pieces, joiner, depth, start, end }: Recipe, length: number): string {
  const open = `${start}${`(a${joiner.trim() === "" ? " " : joiner}`.repeat(depth)}`
  const close = `${")".repeat(depth)}${end}`
  let body = ""
  for (let count = 0; body.length + open.length + close.length < length; count++) {
    const piece = (pieces[count % pieces.length] ?? "")
      .replaceAll(NUMBER, count.toString(36))
      .replaceAll(CHARACTER, String.fromCharCode(0x4e00 + ((count * 37) % 20_000)))
    const next = count === 0 ? piece : joiner + piece
    if (next === "" || body.length + next.length + open.length + close.length > length) break
    body += next
  }
  return open + body + close
}

function describe({ recipe: { platform, pieces, joiner, depth, start, end }, length }: Worst): string {
  return JSON.stringify({ platform: platform.language.id, length, pieces, joiner, depth, start, end })
}

function eventOf(language: Language, text: string): PlatformEvent {
  const record =
    language.id === "x"
      ? { data: { id: "1", text } }
      : { document: { url: addressIn(text), title: text, diff: { chunks: [{ typ: "ins", text }] } } }
  return Either.getOrThrow(language.events.read(record, 0))
}

/** Of an event. That of a pattern is the pattern, which may match itself. */
function addressIn(text: string): string {
  const pattern = text.startsWith(PATTERN_START) ? text.slice(PATTERN_START.length, -PATTERN_END.length) : ""
  return pattern === "" ? "https://example.com/" : pattern
}

function platformOf(language: Language, other: Language): Platform {
  if (!isTarget(other)) throw new Error(`"${other.id}" is not a translation target`)
  return { language, other, maxLength: language.help.limits["rule_length"] ?? 0 }
}

function isNumber(argument: string): boolean {
  return /^\d+$/.test(argument)
}

function cpuMillis(): number {
  return cpuMicros() / 1_000
}
