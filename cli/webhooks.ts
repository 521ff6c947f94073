/** `earshot webhooks`: manages webhooks and lists their delivery attempts. */
import { Args, Command, Options } from "@effect/cli"
import { Console, Effect, Option } from "effect"
import { callOf, withKey } from "../api/calls.ts"
import { contracts } from "../api/contracts.ts"
import type { Language } from "../core/languages/Language.ts"
import {
  DEFAULT_EVENTS,
  type Webhook,
  type WebhookAttempt,
  WebhookEvent,
  type WebhookWithSecret
} from "../core/webhooks/Webhook.ts"
import { deleteCommand } from "./deletion.ts"
import { AlreadyReported, UsageError } from "./failures.ts"
import { idCommand, idOptions } from "./idCommand.ts"
import { matchSelection } from "./matchSelection.ts"
import { wholeNumberOption } from "./numberOption.ts"
import { namingOptions, type OptionNames } from "./optionNames.ts"
import { keyOption, printJson, type TargetActions, targetHelp, targetOptions } from "./remote.ts"
import { visible } from "./terminal.ts"

export const webhooksCommand = <E>(actions: TargetActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make("webhooks").pipe(
    Command.withDescription("Send matches to a URL as they are stored, and list the delivery attempts"),
    Command.withSubcommands([
      create(actions, languages),
      list(actions),
      deleteCommand(actions, { kind: "webhook", about: "Delete webhooks", contract: contracts.webhooks.delete }),
      ...idCommands(actions),
      attempts(actions),
      replay(actions)
    ])
  )

// ---- helpers ----

const common = idOptions("webhook")

const OPTIONS: OptionNames = {
  url: "<address>",
  rule_ids: "--rule",
  description: "--description",
  idempotency_key: "--idempotency-key"
}

const create = <E>({ connectTo }: TargetActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make(
    "create",
    {
      address: Args.text({ name: "address" }).pipe(
        Args.withDescription("URL that receives the matches, such as https://example.com/earshot")
      ),
      rules: Options.text("rule").pipe(
        Options.withPseudoName("rule-id"),
        Options.withDescription("Only matches of this rule; can be repeated (default: all rules)"),
        Options.repeated
      ),
      platform: matchSelection(languages).platform,
      events: Options.choice("event", WebhookEvent.literals).pipe(
        Options.withDescription(
          "Send this: match, match.redacted or coverage.gap; can be repeated (default: match and match.redacted)"
        ),
        Options.repeated
      ),
      description: Options.text("description").pipe(
        Options.withPseudoName("text"),
        Options.withDescription("Description, up to 500 characters (default: none)"),
        Options.optional
      ),
      key: keyOption,
      ...targetOptions,
      json: common.json
    },
    ({ address, rules, platform, events, description, key, json, ...target }) =>
      Effect.gen(function* () {
        const remote = yield* connectTo(target)
        const draft = {
          url: address,
          ...(rules.length > 0 && { rule_ids: rules }),
          ...(Option.isSome(platform) && { platforms: [platform.value] }),
          ...(events.length > 0 && { events }),
          ...(Option.isSome(description) && { description: description.value })
        }
        const create = remote.request(withKey(callOf(contracts.webhooks.create, draft), key))
        const made = yield* json ? create : Effect.mapError(create, namingOptions(OPTIONS))
        yield* json ? printJson(made) : printSecret(made)
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp(
        "Create a webhook, and print the secret that signs its messages (Standard Webhooks). The server sends it every match that is stored from now on."
      )
    )
  )

const printSecret = ({ webhook, secret }: typeof WebhookWithSecret.Type) =>
  Effect.zipRight(
    Console.error(`${webhook.id} sends to ${visible(webhook.url)}. Its secret, shown only once:`),
    Console.log(secret)
  )

const list = <E>({ connectTo }: TargetActions<E>) =>
  Command.make("list", { ...targetOptions, json: common.json }, ({ json, ...target }) =>
    Effect.gen(function* () {
      const remote = yield* connectTo(target)
      const answer = yield* remote.request(callOf(contracts.webhooks.list))
      if (json) return yield* printJson(answer)
      if (answer.webhooks.length === 0)
        return yield* Console.error("No webhooks yet. Create one with: earshot webhooks create")
      yield* Console.log(answer.webhooks.map(describe).join("\n\n"))
    }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(targetHelp("List webhooks, newest first, with their state and last attempt.")))

const describe = (webhook: Webhook): string => {
  const { id, url, description, rule_ids, platforms, events, created_at, state, disabled_reason, next_attempt_at } =
    webhook
  const { last_delivery, last_attempt, subscription } = webhook
  return [
    `${id}  ${visible(url)}`,
    ...(description === undefined ? [] : [`  ${visible(description)}`]),
    ...(subscription === undefined ? [] : [`  ${subscriptionLine(subscription)}`]),
    `  ${isDefault(events) ? "Matches" : events.join(", ")} of ${rule_ids?.join(", ") ?? "all rules"}, on ${platforms?.join(" and ") ?? "all platforms"}; created ${created_at}`,
    `  ${state}${disabled_reason === undefined ? "" : `: ${visible(disabled_reason)}`}${next_attempt_at === undefined ? "" : `, next attempt at ${next_attempt_at}`}`,
    ...(last_delivery === undefined ? [] : [`  Last delivery: ${attemptLine(last_delivery)}`]),
    // A test or a replay, which the state does not depend on.
    ...(last_attempt === undefined || last_attempt.kind === "delivery"
      ? []
      : [`  Last attempt: ${attemptLine(last_attempt)}`])
  ].join("\n")
}

const subscriptionLine = ({ event, client, grant_id, expires_at }: NonNullable<Webhook["subscription"]>): string =>
  `Subscription of ${client === undefined ? "an MCP client" : visible(client)}${grant_id === undefined ? "" : ` (${grant_id})`} to ${event}, until ${expires_at} unless refreshed`

const isDefault = (events: ReadonlyArray<WebhookEvent>) => events.join() === DEFAULT_EVENTS.join()

const attemptLine = ({ at, kind, outcome, status, duration_ms, error, match_id, response }: WebhookAttempt): string => {
  const result = error ?? response ?? ""
  return [
    at,
    `${kind} ${outcome}`,
    ...(match_id === undefined ? [] : [match_id]),
    ...(status === undefined ? [] : [`status ${status}`]),
    `${duration_ms} ms`,
    ...(result === "" ? [] : [visible(result)])
  ].join("  ")
}

const idCommands = <E>(actions: TargetActions<E>) => {
  const byId = idCommand(actions, "webhook")
  return [
    byId({
      name: "test",
      about: "Send a test message to a webhook, and print the result. The exit code is 1 if it was not delivered.",
      contract: contracts.webhooks.test,
      print: ({ attempt }) => Console.log(attemptLine(attempt)),
      succeeds: ({ attempt }) => isDelivered(attempt)
    }),
    byId({
      name: "rotate-secret",
      about: "Create a new secret for a webhook, and print it. For 24 hours, messages are signed with both secrets.",
      contract: contracts.webhooks.rotateSecret,
      print: printSecret
    }),
    byId({
      name: "enable",
      about:
        "Enable a disabled webhook, or retry now if it is waiting for a retry. It continues with the match at which it stopped.",
      contract: contracts.webhooks.enable,
      print: ({ webhook }) => Console.log(describe(webhook))
    })
  ] as const
}

const isDelivered = ({ outcome }: WebhookAttempt): boolean => outcome === "delivered"

const attempts = <E>({ connectTo }: TargetActions<E>) =>
  Command.make(
    "attempts",
    {
      limit: wholeNumberOption("limit", { min: 1, max: 500 }).pipe(
        Options.withDescription("Maximum number to list, 1 to 500 (default: 50)"),
        Options.optional
      ),
      cursor: Options.text("cursor").pipe(
        Options.withPseudoName("attempt-id"),
        Options.withDescription("List attempts older than this one (default: start at the newest)"),
        Options.optional
      ),
      ...common
    },
    ({ id, limit, cursor, json, ...target }) =>
      Effect.gen(function* () {
        const remote = yield* connectTo(target)
        const query = {
          webhook_id: id,
          ...(Option.isSome(limit) && { limit: limit.value }),
          ...(Option.isSome(cursor) && { cursor: cursor.value })
        }
        const answer = yield* remote.request(callOf(contracts.webhooks.attempts, query))
        if (json) return yield* printJson(answer)
        if (answer.attempts.length === 0) yield* Console.error("No attempts yet")
        for (const attempt of answer.attempts) yield* Console.log(attemptLine(attempt))
        if (answer.next_cursor !== undefined) yield* Console.error(`More with --cursor ${answer.next_cursor}`)
      }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(targetHelp("List the delivery attempts of a webhook, newest first.")))

const replay = <E>({ connectTo }: TargetActions<E>) =>
  Command.make(
    "replay",
    {
      match: Options.text("match").pipe(
        Options.withPseudoName("match-id"),
        Options.withDescription("Send this match now, and print the result (default: none)"),
        Options.optional
      ),
      after: Options.text("after").pipe(
        Options.withPseudoName("match-id"),
        Options.withDescription("Send all matches after this one again, in order (default: none)"),
        Options.optional
      ),
      ...common
    },
    ({ id, match, after, json, ...target }) =>
      Effect.gen(function* () {
        if (Option.isSome(match) === Option.isSome(after)) {
          return yield* new UsageError({ message: "Expected either --match or --after" })
        }
        const remote = yield* connectTo(target)
        const request = {
          webhook_id: id,
          ...(Option.isSome(match) && { match_id: match.value }),
          ...(Option.isSome(after) && { after: after.value })
        }
        const answer = yield* remote.request(callOf(contracts.webhooks.replay, request))
        const { webhook, attempt } = answer
        yield* json ? printJson(answer) : Console.log(attempt === undefined ? describe(webhook) : attemptLine(attempt))
        if (attempt !== undefined && !isDelivered(attempt)) return yield* new AlreadyReported()
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp("Send matches to a webhook again. With --match, the exit code is 1 if it was not delivered.")
    )
  )
