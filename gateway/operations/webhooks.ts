/** Handles the operations on webhooks. */
import { Effect } from "effect"
import type { webhooks } from "../../api/webhooks.ts"
import { Webhooks } from "../../core/webhooks/Webhooks.ts"
import type { Handlers } from "./Handlers.ts"

export const webhookHandlers: Handlers<typeof webhooks> = {
  create: (account, draft) => Effect.flatMap(Webhooks, (webhooks) => webhooks.create(account, draft)),

  list: (account) =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      return { webhooks: yield* webhooks.list(account) }
    }),

  delete: (account, { webhook_id }) =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      return { webhook_id: yield* webhooks.delete(account, webhook_id) }
    }),

  test: (account, { webhook_id }) =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      return { attempt: yield* webhooks.test(account, webhook_id) }
    }),

  rotateSecret: (account, { webhook_id }) =>
    Effect.flatMap(Webhooks, (webhooks) => webhooks.rotateSecret(account, webhook_id)),

  enable: (account, { webhook_id }) =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      return { webhook: yield* webhooks.enable(account, webhook_id) }
    }),

  attempts: (account, query) => Effect.flatMap(Webhooks, (webhooks) => webhooks.attempts(account, query)),

  replay: (account, request) => Effect.flatMap(Webhooks, (webhooks) => webhooks.replay(account, request))
}
