/** The platforms that tests and benchmarks use, by id. */
import { Effect, Layer, Option } from "effect"
import * as Local from "../adapters/local/Local.ts"
import { firehose } from "../core/languages/firehose.ts"
import type { Language } from "../core/languages/Language.ts"
import { x } from "../core/languages/x.ts"
import { Platforms } from "../core/platforms/Platform.ts"
import type { Defaults } from "../core/quotas/Limit.ts"
import type { Checked } from "../core/syntax/expression/checked.ts"
import { isTarget, type TargetLanguage } from "../core/syntax/translation/translate.ts"
import { quotas } from "./quotas.ts"

export type PlatformId = "x" | "firehose"

export const PLATFORM_IDS = ["x", "firehose"] as const

export const LANGUAGES: ReadonlyArray<Language> = [x, firehose]

const byId: Readonly<Record<PlatformId, Language>> = { x, firehose }

export const languageOf = (id: PlatformId): Language & TargetLanguage => {
  const language = byId[id]
  if (!isTarget(language)) throw new Error(`"${id}" is not a translation target`)
  return language
}

export const checkRule = (id: PlatformId, text: string): Checked => byId[id].check(text)

export const readEvent = (id: PlatformId, record: unknown, now: number) => byId[id].events.read(record, now)

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
