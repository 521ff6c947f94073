/** Webhooks to ports of services that are not for HTTP. */
import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { WebhookDraft } from "../../core/webhooks/Webhook.ts"
import { decoder } from "../../gateway/decode.ts"

const decode = decoder(WebhookDraft)

describe("the port of a webhook", () => {
  it("of a service that is not for HTTP is refused, and the error says which are allowed", () => {
    for (const port of [1, 22, 25, 1023, 2049, 3306, 5432, 6000, 6379, 6667, 11211, 27017]) {
      const refused = decode({ url: `http://example.com:${port}/` })
      assert.isTrue(Either.isLeft(refused), String(port))
      const message = Either.match(refused, { onLeft: (error) => error.message, onRight: () => "" })
      assert.match(message, new RegExp(`"url": Has the port ${port}, .*80, 443, and those from 1024 on`))
    }
  })

  it("of a web server is allowed", () => {
    for (const url of [
      "https://example.com",
      "http://example.com:80",
      "https://example.com:443",
      "http://example.com:443"
    ]) {
      assert.isTrue(Either.isRight(decode({ url })), url)
    }
    for (const port of [1024, 3000, 8080, 8443, 9000, 40_000, 65_535]) {
      assert.isTrue(Either.isRight(decode({ url: `http://127.0.0.1:${port}/` })), String(port))
    }
  })
})
