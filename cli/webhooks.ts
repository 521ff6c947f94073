/** `earshot webhooks`: where matches are sent as they are stored, and what came of it. */
import { Args, Command, Options } from "@effect/cli"
import { Console, Effect, Option, Schema } from "effect"
import type { Language } from "../core/syntax/language.ts"
import { AttemptList, Webhook, WebhookAttempt, WebhookWithSecret } from "../core/webhooks/Webhook.ts"
import { deleteEach, deletionOptions } from "./deletion.ts"
import { AlreadyTold, WrongUsage } from "./failures.ts"
import { wholeNumberOption } from "./numberOption.ts"
import { platformOption } from "./platformOption.ts"
import { jsonOption, type PlaceActions, placeHelp, placeOptions, post } from "./remote.ts"
import { visible } from "./terminal.ts"

export const webhooksCommand = <E>(actions: PlaceActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make("webhooks").pipe(
    Command.withDescription("Have matches sent to an address as they are stored, and see what came of it"),
    Command.withSubcommands([
      create(actions, languages),
      list(actions),
      remove(actions),
      test(actions),
      rotateSecret(actions),
      enable(actions),
      attempts(actions),
      replay(actions)
    ])
  )

// ---- helpers ----

const webhookId = Args.text({ name: "webhook-id" }).pipe(Args.withDescription("As webhooks list shows it"))

const answerOption = jsonOption("Print what the server answers, as JSON")

const printJson = (value: unknown) => Console.log(JSON.stringify(value, undefined, 2))

const create = <E>({ at }: PlaceActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make(
    "create",
    {
      target: Args.text({ name: "address" }).pipe(
        Args.withDescription("Where matches are sent to, such as https://example.com/earshot")
      ),
      rules: Options.text("rule").pipe(
        Options.withPseudoName("rule-id"),
        Options.withDescription("Only matches of this rule; may be given again (default: of all)"),
        Options.repeated
      ),
      platform: platformOption(languages).pipe(
        Options.withDescription("Only matches on this platform (default: on all)"),
        Options.optional
      ),
      description: Options.text("description").pipe(
        Options.withPseudoName("text"),
        Options.withDescription("What it is for, up to 500 characters (default: none)"),
        Options.optional
      ),
      ...placeOptions,
      json: answerOption
    },
    ({ target, rules, platform, description, json, ...place }) =>
      Effect.gen(function* () {
        const remote = yield* at(place)
        const draft = {
          url: target,
          ...(rules.length > 0 && { rule_ids: rules }),
          ...(Option.isSome(platform) && { platforms: [platform.value] }),
          ...(Option.isSome(description) && { description: description.value })
        }
        const made = yield* remote.request(post("/webhooks/create", draft, WebhookWithSecret))
        yield* json ? printJson(made) : printSecret(made)
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      placeHelp(
        "Create a webhook, and print the secret that its messages are signed with (Standard Webhooks). Matches that are stored from now on are sent to it by the server."
      )
    )
  )

const printSecret = ({ webhook, secret }: typeof WebhookWithSecret.Type) =>
  Effect.zipRight(
    Console.error(`${webhook.id} sends to ${visible(webhook.url)}. Its secret is shown this once:`),
    Console.log(secret)
  )

const list = <E>({ at }: PlaceActions<E>) =>
  Command.make("list", { ...placeOptions, json: answerOption }, ({ json, ...place }) =>
    Effect.gen(function* () {
      const remote = yield* at(place)
      const answer = yield* remote.request({
        method: "GET",
        path: "/webhooks",
        answer: Schema.Struct({ webhooks: Schema.Array(Webhook) })
      })
      if (json) return yield* printJson(answer)
      if (answer.webhooks.length === 0)
        return yield* Console.error("No webhooks yet: create one with: earshot webhooks create")
      yield* Console.log(answer.webhooks.map(inWords).join("\n\n"))
    }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(placeHelp("List the webhooks, newest first, with how each is doing.")))

const inWords = (webhook: Webhook): string => {
  const { id, url, description, rule_ids, platforms, created_at, state, disabled_reason, next_attempt_at } = webhook
  return [
    `${id}  ${visible(url)}`,
    ...(description === undefined ? [] : [`  ${visible(description)}`]),
    `  Matches of ${rule_ids?.join(", ") ?? "all rules"}, on ${platforms?.join(" and ") ?? "all platforms"}; created ${created_at}`,
    `  ${state}${disabled_reason === undefined ? "" : `: ${visible(disabled_reason)}`}${next_attempt_at === undefined ? "" : `, tries again at ${next_attempt_at}`}`,
    ...(webhook.last_attempt === undefined ? [] : [`  Last attempt: ${attemptLine(webhook.last_attempt)}`])
  ].join("\n")
}

const attemptLine = ({ at, kind, outcome, status, duration_ms, error, match_id, response }: WebhookAttempt): string => {
  const said = error ?? response ?? ""
  return [
    at,
    `${kind} ${outcome}`,
    ...(match_id === undefined ? [] : [match_id]),
    ...(status === undefined ? [] : [`status ${status}`]),
    `${duration_ms} ms`,
    ...(said === "" ? [] : [visible(said)])
  ].join("  ")
}

const remove = <E>({ at }: PlaceActions<E>) =>
  Command.make("delete", { ...deletionOptions("webhook"), ...placeOptions }, ({ ids, json, ...place }) =>
    Effect.flatMap(at(place), (remote) =>
      deleteEach(remote, { path: "/webhooks/delete", field: "webhook_id", ids, json })
    ).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      placeHelp("Delete webhooks. Nothing is asked. The exit code is 1 if one of them could not be deleted.")
    )
  )

const test = <E>({ at }: PlaceActions<E>) =>
  Command.make("test", { id: webhookId, ...placeOptions, json: answerOption }, ({ id, json, ...place }) =>
    Effect.gen(function* () {
      const remote = yield* at(place)
      const answer = yield* remote.request(
        post("/webhooks/test", { webhook_id: id }, Schema.Struct({ attempt: WebhookAttempt }))
      )
      yield* json ? printJson(answer) : Console.log(attemptLine(answer.attempt))
      yield* failedIfNotDelivered(answer.attempt)
    }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      placeHelp(
        "Send a test message to a webhook, and print what came back. The exit code is 1 if it was not delivered."
      )
    )
  )

const failedIfNotDelivered = ({ outcome }: WebhookAttempt) =>
  outcome === "delivered" ? Effect.void : new AlreadyTold()

const rotateSecret = <E>({ at }: PlaceActions<E>) =>
  Command.make("rotate-secret", { id: webhookId, ...placeOptions, json: answerOption }, ({ id, json, ...place }) =>
    Effect.gen(function* () {
      const remote = yield* at(place)
      const made = yield* remote.request(post("/webhooks/rotate-secret", { webhook_id: id }, WebhookWithSecret))
      yield* json ? printJson(made) : printSecret(made)
    }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      placeHelp("Give a webhook a new secret, and print it. For 24 hours messages are signed with the old one, too.")
    )
  )

const enable = <E>({ at }: PlaceActions<E>) =>
  Command.make("enable", { id: webhookId, ...placeOptions, json: answerOption }, ({ id, json, ...place }) =>
    Effect.gen(function* () {
      const remote = yield* at(place)
      const answer = yield* remote.request(
        post("/webhooks/enable", { webhook_id: id }, Schema.Struct({ webhook: Webhook }))
      )
      yield* json ? printJson(answer) : Console.log(inWords(answer.webhook))
    }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      placeHelp("Enable a webhook that was disabled: it goes on where it stopped. One that waits tries again now.")
    )
  )

const attempts = <E>({ at }: PlaceActions<E>) =>
  Command.make(
    "attempts",
    {
      id: webhookId,
      limit: wholeNumberOption("limit", { min: 1, max: 500 }).pipe(
        Options.withDescription("How many to list, 1 to 500 (default: 50)"),
        Options.optional
      ),
      cursor: Options.text("cursor").pipe(
        Options.withPseudoName("attempt-id"),
        Options.withDescription("List what is older than this attempt (default: the newest)"),
        Options.optional
      ),
      ...placeOptions,
      json: answerOption
    },
    ({ id, limit, cursor, json, ...place }) =>
      Effect.gen(function* () {
        const remote = yield* at(place)
        const query = {
          webhook_id: id,
          ...(Option.isSome(limit) && { limit: limit.value }),
          ...(Option.isSome(cursor) && { cursor: cursor.value })
        }
        const answer = yield* remote.request(post("/webhooks/attempts", query, AttemptList))
        if (json) return yield* printJson(answer)
        if (answer.attempts.length === 0) yield* Console.error("Nothing was sent to it yet")
        for (const attempt of answer.attempts) yield* Console.log(attemptLine(attempt))
        if (answer.next_cursor !== undefined) yield* Console.error(`More with --cursor ${answer.next_cursor}`)
      }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(placeHelp("List what was sent to a webhook and what came back, newest first.")))

const replay = <E>({ at }: PlaceActions<E>) =>
  Command.make(
    "replay",
    {
      id: webhookId,
      match: Options.text("match").pipe(
        Options.withPseudoName("match-id"),
        Options.withDescription("Send this match now, and print what came back (default: none)"),
        Options.optional
      ),
      after: Options.text("after").pipe(
        Options.withPseudoName("match-id"),
        Options.withDescription("Go on with what came after this match, in its order (default: none)"),
        Options.optional
      ),
      ...placeOptions,
      json: answerOption
    },
    ({ id, match, after, json, ...place }) =>
      Effect.gen(function* () {
        if (Option.isSome(match) === Option.isSome(after)) {
          return yield* new WrongUsage({ message: "Expected either --match or --after: what is to be sent again?" })
        }
        const remote = yield* at(place)
        const request = {
          webhook_id: id,
          ...(Option.isSome(match) && { match_id: match.value }),
          ...(Option.isSome(after) && { after: after.value })
        }
        const answer = yield* remote.request(post("/webhooks/replay", request, Replayed))
        const { webhook, attempt } = answer
        yield* json ? printJson(answer) : Console.log(attempt === undefined ? inWords(webhook) : attemptLine(attempt))
        if (attempt !== undefined) yield* failedIfNotDelivered(attempt)
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      placeHelp("Send matches to a webhook again. With --match, the exit code is 1 if it was not delivered.")
    )
  )

const Replayed = Schema.Struct({ webhook: Webhook, attempt: Schema.optionalWith(WebhookAttempt, { exact: true }) })
