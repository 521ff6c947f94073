/** Fuzzes the engine against the evaluator. `npm run fuzz:engine [-- comparisons seed]` */
import process from "node:process"
import { PLATFORM_IDS } from "../../../fixtures/languages.ts"
import { compare } from "./comparison.ts"

const wanted = Number(process.argv[2] ?? 1_000_000)
const first = Number(process.argv[3] ?? Date.now() % 2 ** 31)
if (!(wanted > 0 && Number.isInteger(first))) {
  console.error("Usage: npm run fuzz:engine [-- comparisons seed], both whole numbers")
  process.exit(1)
}

console.log(`${wanted} comparisons, seed ${first}`)
const started = performance.now()
let comparisons = 0
let matches = 0
for (let seed = first; comparisons < wanted; seed++) {
  for (const platform of PLATFORM_IDS) {
    // Few rules that change often, or many that fill the tables.
    const compared = compare({ platform, seed, steps: 100, rules: seed % 8 === 0 ? 1_000 : 50 })
    if (compared.difference !== undefined) {
      console.error(compared.difference)
      process.exit(1)
    }
    comparisons += compared.comparisons
    matches += compared.matches
  }
  if (process.stderr.isTTY) process.stderr.write(`\r${Math.floor((100 * comparisons) / wanted)} %`)
}
if (process.stderr.isTTY) process.stderr.write("\r")
const seconds = (performance.now() - started) / 1_000
console.log(`${comparisons} comparisons, ${matches} of them matches, 0 differences, in ${seconds.toFixed(0)} s`)
