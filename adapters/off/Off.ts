/** A real platform that this server leaves alone: nothing is sent to it, and the whole time is a gap. */
import { Clock, Effect, Either, Layer, Option, Stream } from "effect"
import type { Language } from "../../core/languages/Language.ts"
import { PlatformNotReady, PlatformUnavailable } from "../../core/model/Errors.ts"
import { Platforms, type Signal } from "../../core/platforms/Platform.ts"
import { helpFor, ruleLimits } from "../../core/platforms/syntaxHelp.ts"
import { UPSTREAM_OFF } from "../../core/status/Drill.ts"

/** `rulesPerAccount`: none for no limit. */
export const platform = (
  language: Language,
  rulesPerAccount: Option.Option<number>
): Layer.Layer<never, never, Platforms> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const platforms = yield* Platforms
      const since = yield* Clock.currentTimeMillis
      const off = new PlatformUnavailable({ platform: language.id, reason: UPSTREAM_OFF })
      // A caller need not try again: the operator has to turn it on.
      const refused = new PlatformNotReady({ platform: language.id, reason: UPSTREAM_OFF, upstream: null })
      const gap = Effect.map(
        Clock.currentTimeMillis,
        (at): Signal => ({ _tag: "GapStarted", at, cause: "upstream_off", detail: UPSTREAM_OFF })
      )
      yield* platforms.register({
        id: language.id,
        language,
        syntax: helpFor(language, ruleLimits(rulesPerAccount)),
        capabilities: { rulesPerAccount, isRemote: true, sendsAlive: true },
        verify: () => Effect.succeed(Either.right("unasked" as const)),
        register: () => refused,
        unregister: () => off,
        inventory: off,
        watch: () => Stream.concat(Stream.fromEffect(gap), Stream.never),
        status: Effect.succeed({
          state: "off",
          detail: UPSTREAM_OFF,
          since,
          lastEventAt: Option.none(),
          lastError: Option.none()
        })
      })
    })
  )
