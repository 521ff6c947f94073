/** Runs the longest test files first, so that no long one runs alone at the end. */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Parts of paths. Files that mostly wait stand between files that mostly compute. */
const LONGEST: ReadonlyArray<string> = [
  "test/cluster/handOver",
  "test/cli/mcp",
  "test/idempotency",
  "test/cluster/findings",
  "test/adapters/sql/pglite",
  "test/gateway/http.test",
  "test/cluster/faults",
  "test/cli/targets",
  "test/ingest/",
  "test/cli/earshot",
  "test/cluster/",
  "test/simulated/",
  "test/cli/replay",
  "test/adapters/sql/",
  "test/ruleChanges",
  "test/crash",
  "test/webhooks",
  "test/cli/",
  "test/console/",
  "test/attacks/",
  "test/gateway/",
  "test/adapters/x/"
]

export default class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((part) => moduleId.includes(part))
      return at < 0 ? LONGEST.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}
