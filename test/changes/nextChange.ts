/** Random changes of a rule: its filters or its name, a pause, a shadow. */
import type { Random } from "../../adapters/demo/random.ts"
import type { Rule, RuleVersion } from "../../core/rules/Rule.ts"
import { PLATFORM_IDS, type PlatformId } from "../../fixtures/languages.ts"

/** What a version is to be. */
export type Wanted = Pick<RuleVersion, "name" | "overrides" | "paused">

export interface Change {
  readonly kind: string
  readonly path: string
  readonly body: object
  /** The next version; undefined if it makes none. */
  readonly wanted?: Wanted
  /** Of a promotion. In milliseconds. */
  readonly since?: number
}

export const DRAFT = { name: "Animals", intent: "Survive", platforms: PLATFORM_IDS }

/** `present` is the last version. */
export const nextChange = (random: Random, rule: Rule, present: Wanted): Change => {
  const other = (platform: PlatformId) => {
    const [first = "", ...rest] = FILTERS[platform].filter((text) => text !== present.overrides[platform])
    return random.pick([first, ...rest])
  }
  const wish = random.below(100)
  if (present.paused && wish < 60) return resumed(present)
  if (rule.shadow !== undefined && wish < 60) return promotion(random, rule.shadow, present)
  if (rule.shadow !== undefined && wish < 75) return { kind: "drop", path: "/api.DropShadow", body: {} }
  if (!present.paused && wish < 12) {
    return { kind: "pause", path: "/api.PauseRule", body: {}, wanted: { ...present, paused: true } }
  }
  const [first, second] = random.pick([PLATFORM_IDS, PLATFORM_IDS, ["x"], ["firehose"]] as const)
  const overrides = { [first]: other(first), ...(second !== undefined && { [second]: other(second) }) }
  if (!present.paused && rule.shadow === undefined && wish < 30) {
    return { kind: "shadow", path: "/api.ShadowRule", body: { overrides } }
  }
  const name = `${DRAFT.name} ${rule.version}`
  const patch = wish < 40 ? { name } : { overrides }
  const kind = wish < 40 ? "rename" : `update of ${Object.keys(overrides).join(" and ")}`
  return {
    kind,
    path: "/api.UpdateRule",
    body: { ...patch, ...(random.chance(0.5) && { expected_version: rule.version }) },
    wanted: wish < 40 ? { ...present, name } : { ...present, overrides: { ...present.overrides, ...overrides } }
  }
}

export const resumed = (present: Wanted): Change => ({
  kind: "resume",
  path: "/api.ResumeRule",
  body: {},
  wanted: { ...present, paused: false }
})

// ---- helpers ----

const FILTERS: Readonly<Record<PlatformId, ReadonlyArray<string>>> = {
  x: ["cat dog", "cat", "cat OR bird", "bird"],
  firehose: ["cat AND dog", "cat", "cat OR bird", "bird"]
}

const promotion = (random: Random, shadow: NonNullable<Rule["shadow"]>, present: Wanted): Change => {
  const texts = Object.entries(shadow.platforms).map(([id, { translated_value }]) => [id, translated_value])
  const { since } = shadow
  const isAdopting = random.chance(0.5)
  return {
    kind: "promotion",
    path: "/api.PromoteRule",
    body: isAdopting ? { since } : {},
    ...(isAdopting && { since: Date.parse(since) }),
    wanted: { ...present, overrides: { ...present.overrides, ...Object.fromEntries(texts) } }
  }
}
