/** What both platforms share: the settings, the clock, the faults, the counters. */
import { Clock, Effect } from "effect"
import { type Random, seeded } from "../demo/random.ts"
import type { SimulatedPlatform } from "./endpoints.ts"
import { Faults } from "./faults.ts"
import { Ledger } from "./Ledger.ts"
import { patched, type Settings, type SettingsPatch } from "./settings.ts"

export class World {
  settings: Settings
  readonly faults = new Faults()
  readonly ledger = new Ledger()
  readonly random: Random
  isClosing = false
  private aheadMillis = 0
  private readonly listeners = new Set<() => void>()

  constructor(options: { readonly settings: Settings; readonly seed: number }) {
    this.settings = options.settings
    this.random = seeded(options.seed)
  }

  /** By the simulator's clock: that of the runtime, and what it was advanced by. */
  readonly now: Effect.Effect<number> = Effect.map(Clock.currentTimeMillis, (millis) => millis + this.aheadMillis)

  /** Limits end, matches grow too old and timeouts come, as if that much time had passed. */
  advance(millis: number): void {
    this.aheadMillis += millis
    this.changed()
  }

  /** Ends every open stream, for good. */
  close(): void {
    this.isClosing = true
    this.changed()
  }

  patch(patch: SettingsPatch): void {
    this.settings = patched(this.settings, patch)
    this.changed()
  }

  /** A time as the platform tells it, which a fault may have made wrong. */
  told(platform: SimulatedPlatform, now: number): number {
    return now + (this.faults.take("clock-skew", { platform, now })?.skew_seconds ?? 0) * 1_000
  }

  /** Calls back whenever something has changed that may end a wait, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  changed(): void {
    for (const listener of this.listeners) listener()
  }

  /** The same seed gives the same names. */
  uuid(): string {
    const hex = Array.from({ length: 32 }, () => this.random.below(16).toString(16)).join("")
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
  }

  letters(length: number): string {
    return Array.from({ length }, () => LETTERS.charAt(this.random.below(LETTERS.length))).join("")
  }
}

// ---- helpers ----

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
