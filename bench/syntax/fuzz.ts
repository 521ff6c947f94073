/** Fuzzes both rule languages. `npm run fuzz:syntax [-- count seed]` */
import { readFileSync } from "node:fs"
import process from "node:process"
import { Random } from "../../fixtures/distributions.ts"
import { checkRule, type PlatformId } from "../../fixtures/languages.ts"

const count = Number(process.argv[2] ?? 1_000_000)
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31)

/** Pieces of both languages, and characters that neither accepts. */
const PIECES =
  'a|cat|the|AND|OR|NOT|or|and|(|)|"|-|+|!|&&| || |~|~3|^2|*|?|/|\\|\\"|:|[|]|{|}| TO |#|@|$|#tag|@user|$TSLA|from:|from:nasa|lang:en|is:retweet|has:links|sample:10|followers_count:1..5|point_radius:[1 2 3km]|bounding_box:[1 2 3 4]|url:"a.b"|title:|title:x|added:"a b"|url:*\\/x\\/*|url:/a[0-9]+/|domain:x.com|dr:[1 TO 9]|recent:24h|publish_time:[2025-01-01T00\\:00\\:00 TO *]|page_type:"/Article"|language:en|*:*| |  |\t|\n|\0|\u200b|\u202e|\ud800|\udc00|é|é|東京|🍕|👩‍👩‍👧|“|”|\u2019|%|,|;'.split(
    "|"
  )

const corpora: Readonly<Record<PlatformId, ReadonlyArray<string>>> = { x: corpus("x"), firehose: corpus("firehose") }
const random = new Random(seed)

const started = performance.now()
let accepted = 0
console.log(`${count} texts, seed ${seed}`)
for (let i = 0; i < count; i++) {
  const platform = i % 2 === 0 ? "x" : "firehose"
  const text = i % 4 < 2 ? mutated(random.pick(corpora[platform])) : assembled()
  const problem = problemWith(platform, text)
  if (problem !== undefined) {
    console.error(`\n${platform}: ${problem}\n${JSON.stringify(text)}\nseed ${seed}, text ${i + 1}`)
    process.exit(1)
  }
  if (process.stderr.isTTY && i % 5_000 === 0) process.stderr.write(`\r${((100 * i) / count).toFixed(1)} %`)
}
if (process.stderr.isTTY) process.stderr.write("\r")
const seconds = (performance.now() - started) / 1_000
console.log(`${count} texts, ${accepted} of them valid rules, 0 failures, in ${seconds.toFixed(0)} s`)

// ---- helpers ----

function problemWith(platform: PlatformId, text: string): string | undefined {
  try {
    const { issues, rule } = checkRule(platform, text)
    if ((rule === undefined) !== issues.some(({ severity }) => severity === "error"))
      return "neither a rule nor an error"
    for (const { span, fix } of issues) {
      if (!(span.start >= 0 && span.start <= span.end && span.end <= text.length)) return "a span outside the text"
      if (fix !== undefined && fix.text === text) return "a fix that changes nothing"
    }
    if (rule === undefined) return undefined
    accepted++
    const again = checkRule(platform, rule.canonical).rule
    return again?.canonical === rule.canonical ? undefined : "a canonical text that is not stable"
  } catch (error) {
    return `an exception: ${error instanceof Error ? error.stack : String(error)}`
  }
}

/** A rule of the corpus with a few pieces inserted, deleted or duplicated. */
function mutated(rule: string): string {
  let text = rule
  for (let edits = 1 + random.below(4); edits > 0; edits--) {
    const from = random.below(text.length + 1)
    const to = Math.min(text.length, from + random.below(6))
    const piece = random.next() < 0.3 ? text.slice(from, to) : random.pick(PIECES)
    text = text.slice(0, from) + piece + text.slice(random.next() < 0.5 ? from : to)
  }
  return text
}

function assembled(): string {
  let text = ""
  for (let pieces = random.below(14); pieces > 0; pieces--)
    text += random.pick(PIECES) + (random.next() < 0.5 ? " " : "")
  return text
}

function corpus(name: PlatformId): ReadonlyArray<string> {
  const lines = readFileSync(new URL(`../../fixtures/rules-${name}.txt`, import.meta.url), "utf8").split("\n")
  return lines.flatMap((line) => line.split("\t")[1] ?? [])
}
