/** The simulator as a process, with a record of the streams that were open there. */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect, type Scope } from "effect"
import { PLATFORM_IDS, type PlatformId } from "../../fixtures/languages.ts"
import type { State } from "../../simulator/Control.ts"
import type { Settings, SettingsPatch } from "../../simulator/settings.ts"
import { sized } from "../long.ts"
import { startCommand } from "../program.ts"

/** Times in milliseconds. */
export interface Connection {
  readonly id: string
  readonly platform: PlatformId
  readonly openedAt: number
  /** When it was last seen open. */
  seenAt: number
  isOpen: boolean
}

export interface SimulatorProcess {
  readonly port: number
  readonly settings: Settings
  readonly state: () => Promise<State>
  /** One JSON event each, for all rules that the platforms hold. */
  readonly publish: (events: ReadonlyArray<unknown>) => Promise<void>
  /** Every stream that was open so far, oldest first. */
  readonly connections: (platform: PlatformId) => ReadonlyArray<Connection>
  readonly open: (platform: PlatformId) => ReadonlyArray<Connection>
}

export const startSimulator = (options: {
  readonly seed: number
  readonly tier: "pay-per-use" | "enterprise"
  readonly settings: SettingsPatch
}): Effect.Effect<SimulatorProcess, never, Scope.Scope> =>
  Effect.gen(function* () {
    const args = ["--port", "0", "--rate", "0", "--seed", String(options.seed), "--tier", options.tier]
    const command = yield* Effect.acquireRelease(
      Effect.sync(() => startCommand("node", ["simulate", ...args])),
      ({ signal, ended }) =>
        Effect.promise(() => {
          signal("SIGKILL")
          return ended
        })
    )
    const url = yield* Effect.promise(() => command.printed(/X_BASE_URL=(\S+)/))
    const { settings } = yield* Effect.promise(() =>
      control<{ settings: Settings }>(url, "PATCH", "settings", JSON.stringify(options.settings))
    )
    const connections = new Map<string, Connection>()
    const isRecording = { value: true }
    const recording = record(url, connections, isRecording)
    yield* Effect.addFinalizer(() =>
      Effect.promise(() => {
        isRecording.value = false
        return recording
      })
    )
    const all = (platform: PlatformId) => [...connections.values()].filter((one) => one.platform === platform)
    return {
      port: Number(new URL(url).port),
      settings,
      state: () => control<State>(url, "GET", "state"),
      publish: async (events) => {
        await control(url, "POST", "events", events.map((event) => JSON.stringify(event)).join("\n"))
      },
      connections: all,
      open: (platform) => all(platform).filter(({ isOpen }) => isOpen)
    }
  })

/** How often the open streams are read: a stream that opens and closes in between is not recorded. */
export const SAMPLE_MILLIS = sized(100, 25)

// ---- helpers ----

const record = async (
  url: string,
  connections: Map<string, Connection>,
  isRecording: { readonly value: boolean }
): Promise<void> => {
  while (isRecording.value) {
    const askedAt = Date.now()
    const state = await control<State>(url, "GET", "state").catch(() => undefined)
    for (const platform of state === undefined ? [] : PLATFORM_IDS) {
      const open = new Map(state?.[platform].connections.map(({ id, openedAt }) => [id, openedAt]))
      for (const one of connections.values()) if (one.platform === platform && !open.has(one.id)) one.isOpen = false
      for (const [id, openedAt] of open) {
        const known = connections.get(id)
        if (known === undefined) connections.set(id, { id, platform, openedAt, seenAt: askedAt, isOpen: true })
        else known.seenAt = askedAt
      }
    }
    await sleep(SAMPLE_MILLIS)
  }
}

const control = async <A>(url: string, method: string, path: string, body?: string): Promise<A> => {
  const answer = await fetch(`${url}/control/${path}`, { method, ...(body !== undefined && { body }) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`The simulator answered ${answer.status} to ${method} /control/${path}: ${text}`)
  // The simulator's own tests check its shape.
  return JSON.parse(text) as A
}
