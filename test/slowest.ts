/** Prints the ten slowest test files at the end of a run. */
import { relative } from "node:path"
import process from "node:process"
import type { Reporter, TestModule } from "vitest/node"

export default class Slowest implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const files = modules.map((module) => ({
      name: relative(process.cwd(), module.moduleId),
      seconds: module.diagnostic().duration / 1_000
    }))
    const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10)
    const rows = slowest.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`)
    console.log(`\nThe slowest files:\n${rows.join("\n")}`)
  }
}
