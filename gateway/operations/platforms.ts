/** Handles the operations on platforms. */
import { Effect, Option } from "effect"
import type { platforms } from "../../api/platforms.ts"
import { syntaxHelp } from "../../core/platforms/Syntax.ts"
import { DrillMode, isDrill } from "../../core/status/Drill.ts"
import { Status } from "../../core/status/Status.ts"
import type { Handlers } from "./Handlers.ts"

export const platformHandlers: Handlers<typeof platforms> = {
  syntax: (_account, { platforms }) =>
    Effect.map(syntaxHelp(platforms), (help) => ({ platforms: Object.fromEntries(help) })),

  status: (account) =>
    Effect.gen(function* () {
      const status = yield* Status
      const drill = yield* DrillMode
      return { platforms: yield* status.platforms(Option.some(account)), ...(isDrill(drill) && { drill }) }
    })
}
