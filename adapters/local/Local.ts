/** Both platforms in process, over events that callers hand in. No account anywhere is needed. */
import { Array as Arr, Deferred, Effect, Either, Layer, Option, Queue, Stream } from "effect"
import { Entropy } from "../../core/Entropy.ts"
import { type ArgumentIssue, InvalidArgument, StorageUnavailable } from "../../core/Errors.ts"
import { LocalFeed } from "../../core/LocalFeed.ts"
import { type Delivery, type Platform, Platforms } from "../../core/Platform.ts"
import type { PlatformId } from "../../core/PlatformId.ts"
import { decodeEvent, type LocalEvent } from "./events.ts"
import { helpFor } from "./help.ts"

/** `rulesPerAccount`: of the platforms that limit their rules. A platform that is not named has none. */
export const layerWith = (options: {
  readonly rulesPerAccount: ReadonlyMap<PlatformId, number>
}): Layer.Layer<LocalFeed, never, Platforms | Entropy> =>
  Layer.scoped(
    LocalFeed,
    Effect.gen(function* () {
      const platforms = yield* Platforms
      const { sha256 } = yield* Entropy
      const locals = new Map<PlatformId, LocalPlatform>()
      for (const id of ["x", "firehose"] as const) {
        const local = yield* makePlatform(id, sha256, Option.fromNullable(options.rulesPerAccount.get(id)))
        yield* platforms.register(local.platform)
        locals.set(id, local)
      }

      const publish = (data: ReadonlyArray<unknown>) =>
        Effect.gen(function* () {
          const events = yield* decodeAll(data, sha256)
          const accepted: Partial<Record<PlatformId, number>> = {}
          const waiting: Array<Effect.Effect<void>> = []
          for (const event of events) {
            accepted[event.platform] = (accepted[event.platform] ?? 0) + 1
            const stored = yield* locals.get(event.platform)?.offer(event) ?? Effect.succeed(Effect.void)
            waiting.push(stored)
          }
          yield* Effect.all(waiting, { discard: true })
          return { accepted }
        })

      return LocalFeed.of({
        publish: (data) =>
          // Sending the events again is safe: nothing is stored twice.
          Effect.timeoutFail(publish(data), {
            duration: "30 seconds",
            onTimeout: () =>
              new StorageUnavailable({ operation: "LocalFeed.publish", cause: "Matches were not stored in time" })
          })
      })
    })
  )

// ---- helpers ----

interface LocalPlatform {
  readonly platform: Platform
  /** Hands the event to the rules it meets; the inner effect waits until the matches are durable. */
  readonly offer: (event: LocalEvent) => Effect.Effect<Effect.Effect<void>>
}

const makePlatform = (id: PlatformId, sha256: (text: string) => string, rulesPerAccount: Option.Option<number>) =>
  Effect.gen(function* () {
    // Full means that the store is behind: whoever hands in events then waits.
    const queue = yield* Effect.acquireRelease(Queue.bounded<Delivery>(1_000), Queue.shutdown)
    const rules = new Map<string, ReadonlyArray<string>>()

    const platform: Platform = {
      id,
      syntax: helpFor(id, rulesPerAccount),
      capabilities: { rulesPerAccount },
      check: (text) =>
        wordsOf(text).length > 0 ? [] : [{ message: "Has no word to look for: write at least one word" }],
      register: (text) =>
        Effect.sync(() => {
          // Named by its text: the same text is the same rule, also after a restart.
          const platformRuleId = sha256(`${id}\n${text}`).slice(0, 32)
          rules.set(platformRuleId, wordsOf(text))
          return { platformRuleId, translatedValue: text }
        }),
      unregister: (platformRuleId) => Effect.sync(() => void rules.delete(platformRuleId)),
      deliveries: Stream.fromQueue(queue, { maxChunkSize: 500 })
    }

    const offer = (event: LocalEvent) =>
      Effect.gen(function* () {
        const present = new Set(wordsOf(event.text))
        const platformRuleIds = [...rules]
          .filter(([, words]) => words.every((word) => present.has(word)))
          .map(([platformRuleId]) => platformRuleId)
        if (platformRuleIds.length === 0) return Effect.void
        const stored = yield* Deferred.make<void>()
        const ack = Effect.asVoid(Deferred.succeed(stored, undefined))
        yield* Queue.offer(queue, {
          platformPostId: event.platformPostId,
          payload: event.payload,
          platformRuleIds,
          ack
        })
        return Deferred.await(stored)
      })

    return { platform, offer }
  })

const decodeAll = (data: ReadonlyArray<unknown>, digest: (text: string) => string) => {
  const events: Array<LocalEvent> = []
  const issues: Array<ArgumentIssue> = []
  for (const [index, item] of data.entries()) {
    const event = decodeEvent(item, digest)
    if (Either.isRight(event)) events.push(event.right)
    else issues.push({ path: `event ${index + 1}`, message: event.left })
  }
  return Arr.isNonEmptyArray(issues) ? new InvalidArgument({ issues }) : Effect.succeed(events)
}

const wordsOf = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
