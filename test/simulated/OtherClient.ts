/** Another client with the same tokens. The service must not touch its rules. */
import { Effect, Option, Schema } from "effect"
import { defaults } from "../simulator/stage.ts"
import type { Service } from "./service.ts"

export class OtherClient {
  /** Rule text by id, for the rules that the platforms hold. */
  readonly rules = new Map<string, string>()
  /** Includes rules that a platform has dropped. */
  readonly everCreated = new Set<string>()
  private readonly service: Service

  constructor(service: Service) {
    this.service = service
  }

  /** Creates the missing rules. Ignores refused calls. */
  readonly restoreRules: Effect.Effect<void> = Effect.suspend(() =>
    Effect.gen(this, function* () {
      const state = JSON.stringify(yield* this.service.control.state)
      for (const [id] of this.rules) if (!state.includes(id)) this.rules.delete(id)
      for (const rule of rulesToHold) {
        if ([...this.rules.values()].includes(rule.text)) continue
        const id = yield* this.create(rule)
        if (Option.isNone(id)) continue
        this.rules.set(id.value, rule.text)
        this.everCreated.add(id.value)
      }
    })
  )

  private create({ path, token, text, body }: (typeof rulesToHold)[number]): Effect.Effect<Option.Option<string>> {
    const request = new Request(`http://simulator${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body(text))
    })
    return Effect.tryPromise(async () => (await this.service.handler(request)).json()).pipe(
      Effect.map((reply) => Option.map(decode(reply), ({ data }) => ("id" in data ? data.id : data[0].id))),
      Effect.orElseSucceed(() => Option.none())
    )
  }
}

// ---- helpers ----

const x = {
  path: "/2/tweets/search/stream/rules",
  token: defaults.x.bearer_token,
  body: (value: string) => ({ add: [{ value, tag: "someone else" }] })
}

const firehose = {
  path: "/v1/rules",
  token: defaults.firehose.tap_token,
  body: (value: string) => ({ value, tag: "someone else" })
}

/** The service has rules on "heath" too: X refuses a second rule with the same text, so it must share this one. */
const rulesToHold = [
  { ...x, text: "zebra" },
  { ...x, text: "heath" },
  { ...firehose, text: "yak" }
]

const Rule = Schema.Struct({ id: Schema.String })
const decode = Schema.decodeUnknownOption(Schema.Struct({ data: Schema.Union(Rule, Schema.Tuple(Rule)) }))
