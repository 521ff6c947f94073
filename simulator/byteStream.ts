/** The bytes of an open stream: records, keep-alives between them, and injected stream faults. */
import { Effect, Option, Stream } from "effect"
import type { SentEvent } from "./Deliveries.ts"
import type { SimulatedPlatform } from "./endpoints.ts"
import type { World } from "./World.ts"
import { Dropped } from "./wire.ts"

export interface Frame {
  /** Text before the JSON. */
  readonly head: string
  readonly json: string
  /** Text after the JSON. */
  readonly tail: string
}

export type Item =
  | { readonly type: "record"; readonly frame: Frame; readonly sent: SentEvent }
  /** Not subject to faults. */
  | { readonly type: "notice"; readonly text: string }
  | { readonly type: "end" }
  /** Drops the connection. */
  | { readonly type: "cut" }

export interface Source {
  /** Of the connection. */
  readonly id: string
  readonly platform: SimulatedPlatform
  /** A clean end tells the client that it has all records: only `next` ends such a stream cleanly. */
  readonly isRecovery: boolean
  /** The next item; undefined if nothing is ready. */
  readonly next: (now: number) => Item | undefined
  /** When to call `next` again if no wake-up comes before, in milliseconds. */
  readonly nextCheckAt: (now: number) => number | undefined
  /** 0 turns keep-alives off. */
  readonly keepAliveSeconds: () => number
  readonly keepAlive: string
  /** Sets the callback that makes the stream call `next` again. */
  readonly onWake: (wake: () => void) => void
  /** The last items, when the platform ends the stream. They are sent even if the stream is stalled. */
  readonly closingItems: (now: number) => ReadonlyArray<Item> | undefined
  /** Called once, at the end of the stream. */
  readonly onClose: (by: "server" | "client", now: number) => void
}

export const byteStream = (world: World, source: Source): Stream.Stream<Uint8Array, Dropped> =>
  Stream.suspend(() => {
    const { platform } = source
    const latch = Effect.unsafeMakeLatch(false)
    const unsubscribe = world.onChange(() => latch.unsafeOpen())
    source.onWake(() => latch.unsafeOpen())
    const pending: Array<Action> = []
    const state: State = { sentAt: undefined, stall: undefined, closedBy: "client" }

    /** Adds the next actions to `pending`; false if there are none. */
    const enqueue = (now: number): boolean => {
      const target = { platform, endpoint: "stream", now }
      const send = (items: ReadonlyArray<Item | undefined>) => {
        for (const item of items) if (item !== undefined) pending.push(...actionsOf(item, world, platform, now))
        return pending.length > 0
      }
      if (world.isClosing) return send([{ type: source.isRecovery ? "cut" : "end" }])
      if (!source.isRecovery && world.faults.take("close", target) !== undefined) return send([{ type: "end" }])
      if (send(source.closingItems(now) ?? [])) return true
      const stall = world.faults.take("stall", target)
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

    /** Milliseconds until the next keep-alive, check or end of a stall. */
    const idleMillis = (now: number): number => {
      const keepAliveMillis = source.keepAliveSeconds() * 1_000
      const times = [
        ...(keepAliveMillis === 0 || state.stall?.isSilent === true ? [] : [(state.sentAt ?? now) + keepAliveMillis]),
        ...(state.stall === undefined ? [source.nextCheckAt(now) ?? Number.POSITIVE_INFINITY] : [state.stall.until])
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
          if (enqueue(now)) continue
          const idle = idleMillis(now)
          yield* idle === Number.POSITIVE_INFINITY ? latch.await : Effect.timeoutOption(latch.await, idle)
          continue
        }
        if (action.do === "wait") {
          yield* Effect.sleep(action.millis)
          continue
        }
        if (action.do === "send") {
          state.sentAt = now
          if (action.sent !== undefined) {
            world.deliveries.record({ at: now, platform, connection: source.id, ...action.sent })
          }
          return action.bytes
        }
        state.closedBy = "server"
        return yield* Effect.fail(action.do === "end" ? Option.none() : Option.some(new Dropped({ reason: "cut" })))
      }
    })

    const release = Effect.map(world.now, (now) => {
      unsubscribe()
      source.onClose(state.closedBy, now)
    })
    return Stream.repeatEffectOption(step).pipe(Stream.ensuring(release))
  })

// ---- helpers ----

type Action =
  /** `sent` if these are the last bytes of a record. */
  | { readonly do: "send"; readonly bytes: Uint8Array; readonly sent?: SentEvent }
  | { readonly do: "wait"; readonly millis: number }
  | { readonly do: "end" | "cut" }

interface State {
  sentAt: number | undefined
  stall: { readonly isSilent: boolean; readonly until: number } | undefined
  closedBy: "server" | "client"
}

const encoder = new TextEncoder()

/** Of a slow record, which may be an oversized one. */
const MAX_PIECES = 10_000

const actionsOf = (item: Item, world: World, platform: SimulatedPlatform, now: number): ReadonlyArray<Action> => {
  if (item.type === "end" || item.type === "cut") return [{ do: item.type }]
  if (item.type === "notice") return [{ do: "send", bytes: encoder.encode(item.text) }]
  const { frame, sent } = item
  const target = { platform, endpoint: "stream", now }
  if (world.faults.take("cut", target) !== undefined) {
    const bytes = encoder.encode(frame.head + firstHalf(frame.json))
    return [{ do: "send", bytes, sent: { ...sent, damaged_by: "cut" } }, { do: "cut" }]
  }
  if (world.faults.take("torn-line", target) !== undefined) {
    const bytes = encoder.encode(frame.head + firstHalf(frame.json) + frame.tail)
    return [{ do: "send", bytes, sent: { ...sent, damaged_by: "torn-line" } }]
  }
  if (world.faults.take("half-utf8", target) !== undefined) {
    return [{ do: "send", bytes: withIncompleteCharacter(frame), sent: { ...sent, damaged_by: "half-utf8" } }]
  }
  const bytes = encoder.encode(frame.head + frame.json + frame.tail)
  const slow = world.faults.take("slow", target)
  const send = { do: "send", bytes, sent } as const
  if (slow !== undefined) {
    const size = Math.max(1, slow.bytes, Math.ceil(bytes.length / MAX_PIECES))
    return inPieces(send, size, slow.millis)
  }
  return world.faults.take("duplicate", target) === undefined ? [send] : [send, send]
}

const firstHalf = (json: string): string => json.slice(0, Math.ceil(json.length / 2))

/** Drops the last byte of the first multi-byte character. Without one, inserts the first two bytes of a "€". */
const withIncompleteCharacter = ({ head, json, tail }: Frame): Uint8Array => {
  const start = encoder.encode(head).length
  const bytes = encoder.encode(head + json + tail)
  const first = bytes.findIndex((byte, index) => index >= start && byte >= 0xc0)
  if (first >= 0) {
    const end = bytes.findIndex((byte, index) => index > first && (byte < 0x80 || byte >= 0xc0))
    return new Uint8Array([...bytes.subarray(0, end - 1), ...bytes.subarray(end)])
  }
  const lastQuote = start + json.lastIndexOf('"')
  return new Uint8Array([...bytes.subarray(0, lastQuote), 0xe2, 0x82, ...bytes.subarray(lastQuote)])
}

const inPieces = (
  { bytes, sent }: { readonly bytes: Uint8Array; readonly sent: SentEvent },
  size: number,
  millis: number
): ReadonlyArray<Action> => {
  const count = Math.ceil(bytes.length / size)
  return Array.from({ length: count }, (_, index): ReadonlyArray<Action> => {
    const piece = bytes.subarray(index * size, (index + 1) * size)
    return [
      { do: "send", bytes: piece, ...(index === count - 1 && { sent }) },
      { do: "wait", millis }
    ]
  }).flat()
}
