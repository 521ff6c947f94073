/** The bytes of an open stream: records as they come due, keep-alives in between, and every fault that a stream can have. */
import { Effect, Option, Stream } from "effect"
import type { SimulatedPlatform } from "./endpoints.ts"
import type { World } from "./World.ts"
import { Dropped } from "./wire.ts"

export interface Frame {
  /** What stands before and after the JSON on the wire. */
  readonly head: string
  readonly json: string
  readonly tail: string
}

export type Item =
  | { readonly type: "record"; readonly frame: Frame }
  /** Faults leave it alone. */
  | { readonly type: "notice"; readonly text: string }
  | { readonly type: "end" }

export interface Source {
  readonly platform: SimulatedPlatform
  /** What is to be sent now; undefined when there is nothing yet. */
  readonly next: (now: number) => Item | undefined
  /** When `next` is to be asked again without anything having changed, in milliseconds. */
  readonly again: (now: number) => number | undefined
  /** Seconds of silence; 0 for no keep-alives. */
  readonly keepAliveSeconds: () => number
  readonly keepAlive: string
  /** Called by whoever wants the stream to look again. */
  readonly onWake: (wake: () => void) => void
  /** The last words for the platform's own ways to end a stream. */
  readonly farewell: (now: number) => ReadonlyArray<Item> | undefined
  /** Once, however the stream ended. */
  readonly closed: (by: "server" | "client", now: number) => void
}

export const byteStream = (world: World, source: Source): Stream.Stream<Uint8Array, Dropped> =>
  Stream.suspend(() => {
    const { platform } = source
    const latch = Effect.unsafeMakeLatch(false)
    const forget = world.onChange(() => latch.unsafeOpen())
    source.onWake(() => latch.unsafeOpen())
    const pending: Array<Action> = []
    const state: State = { sentAt: undefined, stall: undefined, endedBy: "client" }

    /** Puts what is to be done next on the list; false when there is nothing. */
    const look = (now: number): boolean => {
      const place = { platform, endpoint: "stream", now }
      const send = (items: ReadonlyArray<Item | undefined>) => {
        for (const item of items) if (item !== undefined) pending.push(...actionsOf(item, world, platform, now))
        return pending.length > 0
      }
      // A stream that stalls can still be ended.
      if (world.isClosing || world.faults.take("close", place) !== undefined) return send([{ type: "end" }])
      if (send(source.farewell(now) ?? [])) return true
      const stall = world.faults.take("stall", place)
      if (stall !== undefined) {
        const { keep_alives, stall_seconds } = stall
        state.stall = {
          isSilent: !keep_alives,
          until: stall_seconds === undefined ? Number.POSITIVE_INFINITY : now + stall_seconds * 1_000
        }
      }
      if (state.stall !== undefined && state.stall.until > now) return keepAlive(now, state.stall.isSilent)
      state.stall = undefined
      return send([source.next(now)]) || keepAlive(now, false)
    }

    const keepAlive = (now: number, isSilent: boolean): boolean => {
      const millis = source.keepAliveSeconds() * 1_000
      if (isSilent || millis === 0 || now - (state.sentAt ?? now) < millis) return false
      return pending.push({ do: "send", bytes: encoder.encode(source.keepAlive) }) > 0
    }

    /** How long nothing will happen by itself. */
    const quietMillis = (now: number): number => {
      const keepAliveMillis = source.keepAliveSeconds() * 1_000
      const times = [
        ...(keepAliveMillis === 0 || state.stall?.isSilent === true ? [] : [(state.sentAt ?? now) + keepAliveMillis]),
        ...(state.stall === undefined ? [source.again(now) ?? Number.POSITIVE_INFINITY] : [state.stall.until])
      ]
      return Math.max(1, Math.min(...times, Number.POSITIVE_INFINITY) - now)
    }

    const step: Effect.Effect<Uint8Array, Option.Option<Dropped>> = Effect.gen(function* () {
      for (;;) {
        const now = yield* world.now
        state.sentAt ??= now
        const action = pending.shift()
        if (action === undefined) {
          latch.unsafeClose()
          if (look(now)) continue
          const quiet = quietMillis(now)
          yield* quiet === Number.POSITIVE_INFINITY ? latch.await : Effect.timeoutOption(latch.await, quiet)
          continue
        }
        if (action.do === "wait") {
          yield* Effect.sleep(action.millis)
          continue
        }
        if (action.do === "send") {
          state.sentAt = now
          return action.bytes
        }
        state.endedBy = "server"
        return yield* Effect.fail(
          action.do === "end" ? Option.none() : Option.some(new Dropped({ reason: "cut in the middle of a record" }))
        )
      }
    })

    const release = Effect.map(world.now, (now) => {
      forget()
      source.closed(state.endedBy, now)
    })
    return Stream.repeatEffectOption(step).pipe(Stream.ensuring(release))
  })

// ---- helpers ----

type Action =
  | { readonly do: "send"; readonly bytes: Uint8Array }
  | { readonly do: "wait"; readonly millis: number }
  | { readonly do: "end" | "cut" }

interface State {
  sentAt: number | undefined
  stall: { readonly isSilent: boolean; readonly until: number } | undefined
  endedBy: "server" | "client"
}

const encoder = new TextEncoder()

const actionsOf = (item: Item, world: World, platform: SimulatedPlatform, now: number): ReadonlyArray<Action> => {
  if (item.type === "end") return [{ do: "end" }]
  if (item.type === "notice") return [{ do: "send", bytes: encoder.encode(item.text) }]
  const { frame } = item
  const place = { platform, endpoint: "stream", now }
  if (world.faults.take("cut", place) !== undefined) {
    return [{ do: "send", bytes: encoder.encode(frame.head + firstHalf(frame.json)) }, { do: "cut" }]
  }
  const whole = encoder.encode(frame.head + frame.json + frame.tail)
  if (world.faults.take("torn-line", place) !== undefined) {
    return [{ do: "send", bytes: encoder.encode(frame.head + firstHalf(frame.json) + frame.tail) }]
  }
  if (world.faults.take("half-utf8", place) !== undefined) return [{ do: "send", bytes: withHalfCharacter(frame) }]
  const slow = world.faults.take("slow", place)
  if (slow !== undefined) return piecesOf(whole, Math.max(1, slow.bytes), slow.millis)
  const send: Action = { do: "send", bytes: whole }
  return world.faults.take("duplicate", place) === undefined ? [send] : [send, send]
}

const firstHalf = (json: string): string => json.slice(0, Math.ceil(json.length / 2))

/** The last byte of the first longer character is left out; a record without one gets the first two bytes of a "€". */
const withHalfCharacter = ({ head, json, tail }: Frame): Uint8Array => {
  const start = encoder.encode(head).length
  const bytes = encoder.encode(head + json + tail)
  const first = bytes.findIndex((byte, at) => at >= start && byte >= 0xc0)
  if (first >= 0) {
    const end = bytes.findIndex((byte, at) => at > first && (byte < 0x80 || byte >= 0xc0))
    return joined(bytes.subarray(0, end - 1), bytes.subarray(end))
  }
  const inText = start + json.lastIndexOf('"')
  return joined(bytes.subarray(0, inText), Uint8Array.of(0xe2, 0x82), bytes.subarray(inText))
}

const joined = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

const piecesOf = (bytes: Uint8Array, size: number, millis: number): ReadonlyArray<Action> =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size)).flatMap(
    (piece): ReadonlyArray<Action> => [
      { do: "send", bytes: piece },
      { do: "wait", millis }
    ]
  )
