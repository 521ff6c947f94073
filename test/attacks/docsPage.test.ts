/** Texts of the OpenAPI document stay texts on the docs page, whatever they contain. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { page as makePage } from "../../gateway/openapi/page.ts"
import { describeInBrowser } from "../console/browser.ts"
import { emptyDocument } from "../gateway/document.ts"

const HOSTILE = `</script></style><img src=x onerror="attacked()"> "' onclick=attacked() ' & [a](javascript:attacked()) \`<b onclick=attacked()>\` [b](https://e.example/"onclick="attacked())`

describeInBrowser("/docs", (openPage) => {
  it("escapes every text of the document", async () => {
    const schema = {
      type: "object",
      description: HOSTILE,
      properties: {
        [HOSTILE]: { type: HOSTILE, format: HOSTILE, pattern: HOSTILE, default: HOSTILE, enum: [HOSTILE, "other"] },
        named: { $ref: `#/components/schemas/${HOSTILE}` },
        map: { type: "object", additionalProperties: { oneOf: [{ type: "string", enum: [HOSTILE] }] } }
      }
    }
    const content = {
      [HOSTILE]: { schema, example: HOSTILE },
      "application/json": { schema, example: { [HOSTILE]: HOSTILE } }
    }
    const header = { description: HOSTILE, schema }
    const operation = {
      operationId: HOSTILE,
      summary: HOSTILE,
      description: HOSTILE,
      tags: [HOSTILE],
      parameters: [{ name: HOSTILE, in: "query", description: HOSTILE, schema, example: HOSTILE }],
      requestBody: { content },
      responses: {
        200: { description: HOSTILE, headers: { [HOSTILE]: header }, content },
        [HOSTILE]: { $ref: HOSTILE }
      }
    }
    const document = {
      ...emptyDocument,
      info: { title: HOSTILE, version: HOSTILE, description: HOSTILE },
      tags: [{ name: HOSTILE, description: HOSTILE }],
      paths: { [`/${HOSTILE}`]: { post: operation } },
      webhooks: { [HOSTILE]: { post: operation } },
      components: {
        securitySchemes: { apiKey: { description: HOSTILE } },
        schemas: { [HOSTILE]: schema },
        headers: {},
        responses: { [HOSTILE]: { description: HOSTILE, headers: { [HOSTILE]: header }, content } }
      }
    }
    const { html } = await Effect.runPromise(makePage(document, new Map([[`POST /${HOSTILE}`, HOSTILE]])))
    const page = await openPage()
    // Without a content security policy.
    await page.goto("about:blank")
    await page.setContent(html)
    const strange = await page.evaluate(`(() => [
      ...document.querySelectorAll("img, b[onclick], script ~ script, [src], style ~ style"),
      ...[...document.querySelectorAll("*")].filter((one) => one.getAttributeNames().some((name) => name.startsWith("on"))),
      ...[...document.links].filter(({ protocol }) => protocol === "javascript:")
    ].map((one) => one.outerHTML.slice(0, 200)))()`)
    assert.deepStrictEqual(strange, [])
    assert.include(String(await page.evaluate("document.body.textContent")), '<img src=x onerror="attacked()">')
  })
})
