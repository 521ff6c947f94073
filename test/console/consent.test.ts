/** Consent in a real browser, for the official MCP client: allow, deny, and revoke. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import axe from "axe-core"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { until } from "../eventually.ts"
import { call, type Target } from "../gateway/client.ts"
import { freePort } from "../gateway/inProcess.ts"
import { Provider } from "../gateway/oauth/provider.ts"
import { KEY, type Running, START_MILLIS, startService } from "../program.ts"
import { describeInBrowser } from "./browser.ts"

let server: Running
let person: Target
/** The program on the computer of the browser. */
let program: Server
let callback: string
const answers: Array<URLSearchParams> = []

beforeAll(async () => {
  const port = await Effect.runPromise(freePort)
  server = await startService("node", { PORT: String(port), EARSHOT_PUBLIC_URL: `http://127.0.0.1:${port}` })
  person = { ...server, key: KEY }
  program = createServer((request, response) => {
    answers.push(new URL(request.url ?? "", callback).searchParams)
    response.writeHead(200, { "content-type": "text/html" }).end("<title>Back</title><h1>Back in the program</h1>")
  })
  await new Promise<void>((resolve) => program.listen(0, "127.0.0.1", resolve))
  callback = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`
}, START_MILLIS)

afterAll(async () => {
  program.close()
  await server.stop()
})

describeInBrowser("the consent page", (openPage) => {
  it("lets a person sign in, see what is asked for and allow it; the client then works until it is revoked", async () => {
    const { provider, transport, address } = await ask()
    const page = await openPage()
    await page.goto(address)
    await page.getByLabel("API key").fill(KEY)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "Allow “A test of the official client” to use Earshot?" }).waitFor()
    const shown = String(await page.getByRole("form", { name: "Access" }).textContent())
    assert.include(shown, new URL(callback).host)
    assert.match(shown, /Nobody has verified this name[\s\S]*a program on this computer/)
    assert.isTrue(await page.getByLabel("read and write").isChecked())
    await page.evaluate(axe.source)
    assert.deepStrictEqual(
      await page.evaluate("axe.run(document).then((found) => found.violations.map(({ id }) => id))"),
      []
    )
    await page.getByLabel("read only").check()
    await page.getByRole("button", { name: "Allow" }).click()
    await page.getByRole("heading", { name: "Back in the program" }).waitFor()
    const answer = answers.at(-1)
    assert.strictEqual(answer?.get("iss"), server.url)
    await transport.finishAuth(answer ?? new URLSearchParams())
    assert.strictEqual(provider.tokens()?.scope, "read")
    const client = new Client({ name: "test", version: "1" })
    await client.connect(transportOf(provider))
    assert.isUndefined((await client.callTool({ name: "list_rules", arguments: {} })).isError)

    await page.goto(`${server.url}/console/keys#key=${KEY}`)
    const row = page.getByRole("region", { name: "Connected clients" }).getByRole("listitem")
    await row.getByText("A test of the official client").waitFor()
    await row.getByRole("button", { name: "Revoke" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Revoke access" }).click()
    await row.getByText("ended", { exact: true }).waitFor()
    const refused = await client.callTool({ name: "list_rules", arguments: {} }).catch((error: unknown) => error)
    assert.instanceOf(refused, Error)
  })

  it("carries a refusal back, and fits a phone", async () => {
    const { address } = await ask()
    const page = await openPage({ viewport: { width: 360, height: 740 } })
    await signedIn(page, address)
    assert.isAtMost(Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth")), 0)
    await page.getByRole("button", { name: "Deny" }).click()
    await page.getByRole("heading", { name: "Back in the program" }).waitFor()
    assert.deepInclude(Object.fromEntries(answers.at(-1) ?? []), { error: "access_denied", iss: server.url })
  })

  it("lets a read key only look, and says so if the request is not valid", async () => {
    const { body } = await call(person, "/keys/create", { name: "reader", scope: "read" })
    const page = await openPage()
    await page.goto(`${server.url}/console#key=${String(body["secret"])}`)
    await page.getByRole("heading", { name: "Rules", exact: true }).waitFor()
    await page.goto((await ask()).address)
    await page.getByText("This key is read-only").waitFor()
    assert.isTrue(await page.getByRole("button", { name: "Allow" }).isDisabled())
    await page.goto(`${server.url}/console/consent?again#request=forged`)
    await page.getByText("go back to the client, and connect it again").waitFor()
  })

  it("is shown in no frame, and neither is the page before it", async () => {
    const { address } = await ask()
    // The first page of a context reports such messages as mistakes.
    const page = await (await openPage()).context().newPage()
    const messages: Array<string> = []
    page.on("console", (message) => messages.push(message.text()))
    await page.goto(callback)
    for (const [index, framed] of [
      address,
      `${server.url}/console/consent`,
      `${server.url}/oauth/authorize`
    ].entries()) {
      assert.strictEqual((await fetch(framed)).headers.get("x-frame-options"), "DENY", framed)
      await page.evaluate(
        `document.body.append(Object.assign(document.createElement("iframe"), { src: ${JSON.stringify(framed)} }))`
      )
      await until(
        "the frame is refused",
        () => messages.filter((text) => text.includes("frame-ancestors 'none'")).length === index + 1
      )
    }
  })
})

// ---- helpers ----

/** Called back at the port of the program. */
class LocalProvider extends Provider {
  override readonly redirectUrl: string = callback
  override readonly clientMetadata = { client_name: "A test of the official client", redirect_uris: [callback] }
}

const transportOf = (provider: Provider) =>
  new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { authProvider: provider })

/** The client wants the browser to open this address. */
const ask = async () => {
  const provider = new LocalProvider()
  const transport = transportOf(provider)
  await new Client({ name: "test", version: "1" }).connect(transport).catch(() => {})
  return { provider, transport, address: String(provider.asked.at(-1)) }
}

const signedIn = async (page: Page, address: string): Promise<void> => {
  await page.goto(`${server.url}/console#key=${KEY}`)
  await page.getByRole("heading", { name: "Rules", exact: true }).waitFor()
  await page.goto(address)
  await page.getByRole("button", { name: "Allow" }).waitFor()
}
