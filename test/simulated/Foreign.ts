/** Someone else with the same tokens, whose rules are none of the service's business. */
import { Effect, Option, Schema } from "effect"
import { defaults } from "../adapters/simulator/stage.ts"
import type { Service } from "./service.ts"

export class Foreign {
  /** By id, the texts of the rules that are there. */
  readonly made = new Map<string, string>()
  /** Also of those that a platform forgot. */
  readonly everMade = new Set<string>()
  private readonly service: Service

  constructor(service: Service) {
    this.service = service
  }

  /** Makes those again that are not there, as far as the platforms let it. */
  readonly keep: Effect.Effect<void> = Effect.suspend(() =>
    Effect.gen(this, function* () {
      const held = JSON.stringify(yield* this.service.control.state)
      for (const [id] of this.made) if (!held.includes(id)) this.made.delete(id)
      for (const rule of RULES) {
        if ([...this.made.values()].includes(rule.text)) continue
        const id = yield* this.add(rule)
        if (Option.isNone(id)) continue
        this.made.set(id.value, rule.text)
        this.everMade.add(id.value)
      }
    })
  )

  private add({ path, token, text, body }: (typeof RULES)[number]): Effect.Effect<Option.Option<string>> {
    const request = new Request(`http://simulator${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body(text))
    })
    return Effect.tryPromise(async () => (await this.service.handler(request)).json()).pipe(
      Effect.map((answer) => Option.map(decode(answer), ({ data }) => ("id" in data ? data.id : data[0].id))),
      Effect.orElseSucceed(() => Option.none())
    )
  }
}

// ---- helpers ----

const X = {
  path: "/2/tweets/search/stream/rules",
  token: defaults.x.bearer_token,
  body: (value: string) => ({ add: [{ value, tag: "someone else" }] })
}

const FIREHOSE = {
  path: "/v1/rules",
  token: defaults.firehose.tap_token,
  body: (value: string) => ({ value, tag: "someone else" })
}

/** X gives no second rule of the same text: the one on "heath" is also what rules of the service stand on. */
const RULES = [
  { ...X, text: "zebra" },
  { ...X, text: "heath" },
  { ...FIREHOSE, text: "yak" }
]

const Rule = Schema.Struct({ id: Schema.String })
const decode = Schema.decodeUnknownOption(Schema.Struct({ data: Schema.Union(Rule, Schema.Tuple(Rule)) }))
