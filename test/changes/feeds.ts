/** Publish a steady stream of numbered posts and pages: to the simulator, or to a service that runs the platforms. */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect, type Scope } from "effect"
import { type Random, seeded } from "../../adapters/demo/random.ts"
import type { PlatformId } from "../../fixtures/languages.ts"
import * as Simulator from "../../simulator/Simulator.ts"
import { serve } from "../../simulator/server.ts"
import { KEY } from "../program.ts"
import type { Published } from "./oracle.ts"

export interface Feed {
  /** For the service. */
  readonly settings: Readonly<Record<string, string>>
  readonly inFlightMillis: number
  /** X sends the posts of some minutes again. */
  readonly hasBackfill: boolean
  readonly published: ReadonlyArray<Published>
  /** Publishes from now on. `url` is that of the running service, or undefined while there is none. */
  readonly start: (url: () => string | undefined) => void
  /** Waits until everything is acknowledged. */
  readonly stop: () => Promise<void>
  /** The texts that each platform holds; none if they run in process. */
  readonly held: Effect.Effect<Readonly<Record<PlatformId, ReadonlyArray<string>>> | undefined>
}

export type OpenFeed = (seed: number) => Effect.Effect<Feed, never, Scope.Scope>

/** The platforms run in the service. */
export const inProcess: OpenFeed = (seed) =>
  Effect.sync(() => {
    const publisher = new Publisher(seeded(seed), async (events, published, url) => {
      const response = await fetch(`${url}/local/events`, {
        method: "POST",
        headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
        body: JSON.stringify(events)
      })
      await response.text()
      for (const event of published) {
        event.to = Date.now()
        event.isCertain = response.ok
      }
    })
    return { settings: {}, inFlightMillis: 0, hasBackfill: false, ...publisher.feed, held: Effect.succeed(undefined) }
  })

/** Both platforms are simulated. */
export const simulated: OpenFeed = (seed) =>
  Effect.gen(function* () {
    const random = seeded(seed)
    const hasBackfill = random.chance(0.5)
    const simulator = yield* Simulator.make({
      seed,
      settings: {
        x: {
          tier: hasBackfill ? "enterprise" : "pay-per-use",
          dead_slot_seconds: 0,
          // The runs are about changes that succeed.
          rules_get_limit: 100_000,
          rules_post_limit: 100_000,
          stream_limit: 1_000
        },
        firehose: { rule_ids: random.chance(0.5) ? "query_ids" : "query_id", rules_limit: 100_000, stream_limit: 1_000 }
      }
    })
    const port = yield* Effect.orDie(serve(simulator, { host: "127.0.0.1", port: 0 }))
    const { x, firehose } = simulator.control.settings
    const publisher = new Publisher(random, async (events, published) => {
      await Effect.runPromise(simulator.control.publish(events))
      for (const event of published) {
        event.to = Date.now()
        event.isCertain = true
      }
    })
    const url = `http://127.0.0.1:${port}`
    return {
      settings: {
        X_BASE_URL: url,
        X_BEARER_TOKEN: x.bearer_token,
        FIREHOSE_BASE_URL: url,
        FIREHOSE_TAP_TOKEN: firehose.tap_token
      },
      inFlightMillis: IN_FLIGHT_MILLIS,
      hasBackfill,
      ...publisher.feed,
      start: () => publisher.start(() => url),
      held: Effect.map(simulator.control.state, (state) => ({
        x: state.x.rules.map(({ value }) => value),
        firehose: state.firehose.taps.flatMap((tap) => tap.rules.map(({ value }) => value))
      }))
    }
  })

// ---- helpers ----

/** From the simulator to the service, on a busy machine. */
const IN_FLIGHT_MILLIS = 1_000

/** 200 events a second: five posts and five pages every 50 ms. */
const INTERVAL_MILLIS = 50
const BATCH = 5
const MAX_UNACKNOWLEDGED = 4

const WORDS = ["cat", "dog", "bird"]

type Send = (events: ReadonlyArray<unknown>, published: ReadonlyArray<Published>, url: string) => Promise<void>

class Publisher {
  readonly published: Array<Published> = []
  private readonly random: Random
  private readonly send: Send
  private readonly sending = new Set<Promise<void>>()
  private running = Promise.resolve()
  private isStopped = false

  constructor(random: Random, send: Send) {
    this.random = random
    this.send = send
  }

  readonly start = (url: () => string | undefined): void => {
    this.running = this.run(url)
    // `stop` reports an error.
    this.running.catch(() => {})
  }

  readonly stop = async (): Promise<void> => {
    this.isStopped = true
    await this.running
    await Promise.all(this.sending)
  }

  get feed(): Pick<Feed, "published" | "start" | "stop"> {
    return { published: this.published, start: this.start, stop: this.stop }
  }

  private async run(url: () => string | undefined): Promise<void> {
    let next = Date.now()
    while (!this.isStopped) {
      next += INTERVAL_MILLIS
      await sleep(Math.max(1, next - Date.now()))
      // After a pause the stream goes on at its rate.
      next = Math.max(next, Date.now() - INTERVAL_MILLIS)
      const to = url()
      if (to === undefined || this.sending.size >= MAX_UNACKNOWLEDGED) continue
      const sent = this.publish(to)
      this.sending.add(sent)
      void sent.finally(() => this.sending.delete(sent))
    }
  }

  /** An event that is not acknowledged stays uncertain. */
  private publish(url: string): Promise<void> {
    const events = Array.from({ length: BATCH }, () => this.newEvent())
    return this.send(events.flatMap(recordsOf), events, url).catch(() => {
      for (const event of events) event.to = Date.now()
    })
  }

  private newEvent(): Published {
    const words = WORDS.filter(() => this.random.chance(0.5))
    const number = this.published.length + 1
    const at = Date.now()
    const text = ["event", number, "is", "about", ...words].join(" ")
    const event = { number, text, from: at, to: at, isCertain: false }
    this.published.push(event)
    return event
  }
}

const recordsOf = ({ number, text, from }: Published): ReadonlyArray<unknown> => [
  { data: { id: String(number), text, created_at: new Date(from).toISOString() } },
  {
    document: {
      url: `https://news.example.com/${number}`,
      publish_time: new Date(from).toISOString().slice(0, 19),
      diff: { chunks: [{ typ: "ins", text }] }
    }
  }
]
