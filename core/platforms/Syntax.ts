/** The syntax use case: help for writing a filter on each platform. */
import { Effect } from "effect"
import type { PlatformNotConfigured } from "../model/Errors.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { Platforms, type SyntaxHelp } from "./Platform.ts"

/** For all platforms by default. */
export const syntaxHelp = (
  ids?: ReadonlyArray<PlatformId>
): Effect.Effect<ReadonlyMap<PlatformId, SyntaxHelp>, PlatformNotConfigured, Platforms> =>
  Effect.gen(function* () {
    const platforms = yield* Platforms
    const found = ids === undefined ? yield* platforms.all : yield* Effect.forEach(ids, platforms.get)
    return new Map(found.map(({ id, syntax }) => [id, syntax]))
  })
