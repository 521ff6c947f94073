/** `earshot matches redact`: the operator removes posts from everything that is stored. */
import { Args, Command, Options } from "@effect/cli"
import { Console, Effect, type Option, type Scope } from "effect"
import { uncheckedCall } from "../api/calls.ts"
import { RedactResult } from "../core/compliance/Redactions.ts"
import type { Language } from "../core/languages/Language.ts"
import { RedactionReason } from "../core/matches/Match.ts"
import { counted } from "../core/text/counted.ts"
import { platformOption } from "./platformOption.ts"
import { jsonOption, printJson, type Remote, urlOption } from "./remote.ts"

export interface RedactActions<E> {
  /** Accepts calls of the operator. */
  readonly operatorRemote: (url: Option.Option<string>) => Effect.Effect<Remote, E, Scope.Scope>
}

export const redactCommand = <E>({ operatorRemote }: RedactActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make(
    "redact",
    {
      posts: Args.text({ name: "post-id" }).pipe(
        Args.withDescription("Ids of the posts (platform_post_id of their matches), at most 1000"),
        Args.atLeast(1)
      ),
      platform: platformOption(languages).pipe(Options.withDescription("Platform of the posts")),
      reason: Options.choice("reason", RedactionReason.literals).pipe(
        Options.withDescription("Reason that the accounts see (default: operator)"),
        Options.withDefault("operator" as const)
      ),
      url: urlOption,
      json: jsonOption("Print the response as JSON")
    },
    ({ posts, platform, reason, url, json }) =>
      Effect.gen(function* () {
        const remote = yield* operatorRemote(url)
        const request = { platform, platform_post_ids: posts, reason }
        const result = yield* remote.request(
          uncheckedCall({ method: "POST", path: "/matches/redact", output: RedactResult }, request)
        )
        if (json) return yield* printJson(result)
        yield* Console.log(`Redacted ${counted(result.redacted, "match", "matches")}`)
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      "Remove posts from everything that is stored, for all accounts, as the operator: through the server that uses EARSHOT_DATA_DIR, or with the key in EARSHOT_OPERATOR_KEY. The matches stay, without their payload, and their accounts are notified"
    )
  )
