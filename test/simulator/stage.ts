/** The simulator in process on the test clock, with helpers to call it and to read its streams. */
import { Effect, TestClock } from "effect"
import * as Simulator from "../../simulator/Simulator.ts"
import type { SettingsPatch } from "../../simulator/settings.ts"
import { defaultSettings } from "../../simulator/settings.ts"

export const NOW = Date.UTC(2026, 10, 15, 12)
export const defaults = defaultSettings()
export const X = { authorization: `Bearer ${defaults.x.bearer_token}` }
export const TAP = { authorization: `Bearer ${defaults.firehose.tap_token}` }
export const MANAGER = { authorization: `Bearer ${defaults.firehose.management_key}` }

export const RULES = "/2/tweets/search/stream/rules"
export const STREAM = "/2/tweets/search/stream"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of any shape
  readonly body: any
}

export interface Options {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON unless it is a string. */
  readonly body?: unknown
}

export interface Stage extends Simulator.Simulator {
  readonly call: (path: string, options?: Options) => Effect.Effect<Answer>
  readonly addX: (...values: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>
  readonly addFirehose: (...values: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>
  readonly post: (...texts: ReadonlyArray<string>) => Effect.Effect<void>
  readonly page: (...texts: ReadonlyArray<string>) => Effect.Effect<void>
  readonly listen: (path: string, headers: Readonly<Record<string, string>>) => Effect.Effect<Listening>
}

export const stage = (settings: SettingsPatch = {}, seed = 1) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(NOW)
    const simulator = yield* Simulator.make({ seed, settings })
    const call = (path: string, options: Options = {}) => Effect.promise(() => answerOf(simulator, path, options))
    let lastNumber = 0
    const started: Stage = {
      ...simulator,
      call,
      addX: (...values) =>
        Effect.map(
          call(RULES, { method: "POST", headers: X, body: { add: values.map((value) => ({ value })) } }),
          ({ body }) => body.data.map(({ id }: { id: string }) => id)
        ),
      addFirehose: (...values) =>
        Effect.forEach(values, (value) =>
          Effect.map(call("/v1/rules", { method: "POST", headers: TAP, body: { value } }), ({ body }) => body.data.id)
        ),
      post: (...texts) =>
        Effect.flatMap(simulator.control.now, (now) =>
          Effect.orDie(simulator.control.publish(texts.map((text) => postOf(text, ++lastNumber, now))))
        ),
      page: (...texts) => Effect.orDie(simulator.control.publish(texts.map((text) => pageOf(text, ++lastNumber)))),
      listen: (path, headers) => listening(simulator, path, headers)
    }
    return started
  })

/** `now` in milliseconds. */
export const postOf = (text: string, number: number, now = NOW) => ({
  data: {
    id: String(1_000_000 + number),
    text,
    lang: "en",
    author_id: "7",
    created_at: new Date(now).toISOString(),
    edit_history_tweet_ids: [String(1_000_000 + number)]
  },
  includes: { users: [{ id: "7", name: "Seven", username: "seven", verified: true }] }
})

export const pageOf = (text: string, number: number) => ({
  document: {
    url: `https://news.example.com/${number}`,
    title: text,
    publish_time: new Date(NOW).toISOString().slice(0, 19),
    diff: { chunks: [{ typ: "ins", text }] },
    language: "en"
  }
})

/** What a stream has received so far. */
export interface Listening extends Answer {
  readonly bytes: () => Uint8Array
  readonly text: () => string
  /** "end" after a clean end, "dropped" after an error. */
  readonly ended: () => "open" | "end" | "dropped"
  /** Disconnects the client. */
  readonly hangUp: Effect.Effect<void>
}

/** Runs everything that is ready without advancing the clock. */
export const settle = Effect.promise(async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
})

/** Advances the clock, then settles. */
export const pass = (seconds: number) => TestClock.adjust(`${seconds * 1_000} millis`).pipe(Effect.zipRight(settle))

/** The records of X's stream, without keep-alives. */
export const recordsOf = (text: string) =>
  text
    .split("\r\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

export interface SseEvent {
  readonly id?: string
  readonly event: string
  readonly data: string
}

export const eventsOf = (text: string): ReadonlyArray<SseEvent> =>
  text
    .split("\n\n")
    .filter((block) => block !== "" && !block.startsWith(":"))
    .map((block) => {
      const lines = block
        .split("\n")
        .map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)])
      return Object.fromEntries(lines)
    })

// ---- helpers ----

const requestOf = (path: string, { method = "GET", headers = {}, body }: Options): Request =>
  new Request(`http://simulator${path}`, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) })
  })

const answerOf = async (simulator: Simulator.Simulator, path: string, options: Options): Promise<Answer> => {
  const { status, headers, body } = await simulator.handler(requestOf(path, options))
  if (/event-stream/.test(headers.get("content-type") ?? "")) {
    await body?.cancel()
    return { status, headers, body: "" }
  }
  const text = await new Response(body).text()
  return { status, headers, body: text === "" ? "" : JSON.parse(text) }
}

const listening = (simulator: Simulator.Simulator, path: string, headers: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const response = yield* Effect.promise(() => simulator.handler(requestOf(path, { headers })))
    const parts: Array<Uint8Array> = []
    let state: "open" | "end" | "dropped" = "open"
    const reader = response.body?.getReader()
    const read = async () => {
      for (;;) {
        const chunk = await reader?.read()
        if (chunk === undefined || chunk.done) return
        parts.push(chunk.value)
      }
    }
    read().then(
      () => {
        state = "end"
      },
      () => {
        state = "dropped"
      }
    )
    yield* settle
    const bytes = () => Buffer.concat(parts)
    const listening: Listening = {
      status: response.status,
      headers: response.headers,
      body: "",
      bytes,
      text: () => bytes().toString("utf8"),
      ended: () => state,
      hangUp: Effect.zipRight(
        Effect.promise(async () => reader?.cancel()),
        settle
      )
    }
    return listening
  })
