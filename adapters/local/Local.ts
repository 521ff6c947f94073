/** Both platforms in process, over events that callers hand in. No account anywhere is needed. */
import { Array as Arr, Clock, Deferred, Effect, Either, Layer, Option, Queue, Stream } from "effect"
import { Entropy } from "../../core/Entropy.ts"
import { type ArgumentIssue, InvalidArgument, PlatformRefused, StorageUnavailable } from "../../core/Errors.ts"
import { NamedRules } from "../../core/engine/NamedRules.ts"
import { LocalFeed } from "../../core/LocalFeed.ts"
import { type Delivery, type Platform, Platforms } from "../../core/Platform.ts"
import { PLATFORM_IDS, type PlatformId } from "../../core/PlatformId.ts"
import { RecentEvents } from "../../core/RecentEvents.ts"
import { helpFor } from "../../core/syntax/help.ts"
import { checkRule } from "../../core/syntax/language.ts"
import { decodeEvent, type LocalEvent } from "./events.ts"

/** `rulesPerAccount`: of the platforms that limit their rules. A platform that is not named has none. */
export const layerWith = (options: {
  readonly rulesPerAccount: ReadonlyMap<PlatformId, number>
}): Layer.Layer<LocalFeed, never, Platforms | RecentEvents | Entropy> =>
  Layer.scoped(
    LocalFeed,
    Effect.gen(function* () {
      const platforms = yield* Platforms
      const recent = yield* RecentEvents
      const { sha256, bytes } = yield* Entropy
      const locals = new Map<PlatformId, LocalPlatform>()
      for (const id of PLATFORM_IDS) {
        // Nobody who writes rules or posts can know the seed.
        const rules = new NamedRules({ seed: bytes(4).reduce((seed, byte) => (seed << 8) | byte, 0) })
        const local = yield* makePlatform(id, rules, sha256, Option.fromNullable(options.rulesPerAccount.get(id)))
        yield* platforms.register(local.platform)
        locals.set(id, local)
      }

      const publish = (data: ReadonlyArray<unknown>) =>
        Effect.gen(function* () {
          const events = yield* decodeAll(data, sha256, yield* Clock.currentTimeMillis)
          const accepted: Partial<Record<PlatformId, number>> = {}
          const waiting: Array<Effect.Effect<void>> = []
          for (const event of events) {
            accepted[event.platform] = (accepted[event.platform] ?? 0) + 1
            const stored = yield* locals.get(event.platform)?.offer(event) ?? Effect.succeed(Effect.void)
            waiting.push(stored)
          }
          yield* Effect.all(waiting, { discard: true })
          // Last, so that events which are handed in again because this failed are not kept twice.
          for (const id of PLATFORM_IDS) {
            yield* recent.record(
              id,
              events.flatMap(({ platform, payload }) => (platform === id ? [payload] : []))
            )
          }
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

const makePlatform = (
  id: PlatformId,
  rules: NamedRules,
  sha256: (text: string) => string,
  rulesPerAccount: Option.Option<number>
) =>
  Effect.gen(function* () {
    // Full means that the store is behind: whoever hands in events then waits.
    const queue = yield* Effect.acquireRelease(Queue.bounded<Delivery>(1_000), Queue.shutdown)

    const platform: Platform = {
      id,
      syntax: helpFor(
        id,
        Option.match(rulesPerAccount, { onNone: () => ({}), onSome: (limit) => ({ rules_per_account: limit }) })
      ),
      capabilities: { rulesPerAccount },
      check: (text) => checkRule(id, text),
      register: (text) =>
        Effect.suspend(() => {
          const { rule, issues } = checkRule(id, text)
          if (rule === undefined) {
            return new PlatformRefused({ platform: id, reason: issues[0]?.message ?? "the filter is not valid" })
          }
          // Named by its text: the same text is the same rule, also after a restart.
          const platformRuleId = sha256(`${id}\n${text}`).slice(0, 32)
          rules.set(platformRuleId, rule.expression)
          return Effect.succeed({ platformRuleId, translatedValue: text })
        }),
      unregister: (platformRuleId) => Effect.sync(() => rules.delete(platformRuleId)),
      // Small enough that the embedded store does not hold up everyone else for long.
      deliveries: Stream.fromQueue(queue, { maxChunkSize: 200 })
    }

    const offer = ({ platformPostId, payload, fields }: LocalEvent) =>
      Effect.gen(function* () {
        const platformRuleIds = rules.match(fields)
        if (platformRuleIds.length === 0) return Effect.void
        const stored = yield* Deferred.make<void>()
        const ack = Effect.asVoid(Deferred.succeed(stored, undefined))
        yield* Queue.offer(queue, { platformPostId, payload, platformRuleIds, ack })
        return Deferred.await(stored)
      })

    return { platform, offer }
  })

const decodeAll = (data: ReadonlyArray<unknown>, digest: (text: string) => string, now: number) => {
  const events: Array<LocalEvent> = []
  const issues: Array<ArgumentIssue> = []
  for (const [index, item] of data.entries()) {
    const event = decodeEvent(item, digest, now)
    if (Either.isRight(event)) events.push(event.right)
    else issues.push({ path: `event ${index + 1}`, message: event.left })
  }
  return Arr.isNonEmptyArray(issues) ? new InvalidArgument({ issues }) : Effect.succeed(events)
}
