/** The platforms that tests use. */
import { Effect, Layer, Option } from "effect"
import * as Local from "../adapters/local/Local.ts"
import { firehose } from "../core/languages/firehose.ts"
import { x } from "../core/languages/x.ts"
import { Platforms } from "../core/platforms/Platform.ts"
import type { Defaults } from "../core/quotas/Limit.ts"
import { PLATFORM_IDS, type PlatformId } from "../fixtures/languages.ts"
import { quotas } from "./quotas.ts"

/** Both platforms in process, with their feed and quotas. */
export const localPlatforms = (limits: Partial<Record<PlatformId, number>> = {}, defaults: Partial<Defaults> = {}) =>
  Local.feed.pipe(
    Layer.provideMerge(quotas(defaults)),
    Layer.provideMerge(
      Layer.provideMerge(
        Local.platform(firehose, Option.fromNullable(limits.firehose)),
        Local.platform(x, Option.fromNullable(limits.x))
      )
    ),
    Layer.provideMerge(Layer.merge(Platforms.layer, Local.Sinks.layer))
  )

/** A registry with only the ids. */
export const idsOnly: Layer.Layer<Platforms> = Layer.mock(Platforms, { ids: Effect.succeed(PLATFORM_IDS) })
