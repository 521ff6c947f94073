/** The official MCP client signs in to the real program: with registration and with a document, on Node and on Deno. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client"
import { Effect } from "effect"
import { BOTH_RUNTIMES, KEY, type Running, START_MILLIS, startService } from "../../program.ts"
import { call, type Target } from "../client.ts"
import { freePort } from "../inProcess.ts"
import { CERTIFICATE, PRIVATE_KEY } from "./certificate.ts"
import { decide, grantsOf, requestIn } from "./flow.ts"
import { Provider } from "./provider.ts"

/** The site of an application, which describes its client in a document. */
let site: Server
let documents: string
const folder = mkdtempSync(join(tmpdir(), "earshot-test-"))

beforeAll(async () => {
  writeFileSync(join(folder, "ca.pem"), CERTIFICATE)
  site = createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (request, response) => {
    const path = request.url ?? ""
    reads.push(path)
    const document = {
      client_id: path === "/stolen.json" ? `${documents}/client.json` : `${documents}${path}`,
      client_name: "A described client",
      redirect_uris: [new Provider().redirectUrl],
      ...(path === "/secret.json" && { token_endpoint_auth_method: "client_secret_post" })
    }
    if (path === "/redirect.json") return response.writeHead(302, { location: `${documents}/client.json` }).end()
    if (path === "/slow.json") return
    if (path === "/large.json") return response.end(JSON.stringify({ ...document, more: "m".repeat(70_000) }))
    return response.end(path === "/text.json" ? "not JSON" : JSON.stringify(document))
  })
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve))
  documents = `https://127.0.0.1:${(site.address() as AddressInfo).port}`
})

afterAll(() => {
  site.close()
  site.closeAllConnections()
  rmSync(folder, { recursive: true })
})

const reads: Array<string> = []

for (const runtime of BOTH_RUNTIMES) {
  describe(`sign-in on ${runtime}`, () => {
    let running: Running
    let person: Target

    beforeAll(async () => {
      const port = await Effect.runPromise(freePort)
      running = await startService(runtime, {
        PORT: String(port),
        EARSHOT_PUBLIC_URL: `http://127.0.0.1:${port}`,
        EARSHOT_WEBHOOK_ALLOW: "127.0.0.0/8",
        NODE_EXTRA_CA_CERTS: join(folder, "ca.pem")
      })
      person = { ...running, key: KEY }
    }, START_MILLIS)

    afterAll(() => running.stop(), START_MILLIS)

    for (const described of runtime === "node" ? [false, true] : [false]) {
      it(`of a client that ${described ? "has a document" : "registers itself"}: allow, call, refresh, revoke`, async () => {
        const provider = new Provider(described ? `${documents}/client.json` : undefined)
        const client = await signIn(person, provider)
        const { content } = await client.callTool({ name: "get_account", arguments: {} })
        assert.match(JSON.stringify(content), /rules\.x/)
        const before = provider.tokens()
        provider.loseAccessToken()
        await client.callTool({ name: "get_account", arguments: {} })
        assert.notStrictEqual(provider.tokens()?.refresh_token, before?.refresh_token)
        const grant = (await grantsOf(person)).at(-1)
        assert.deepInclude(grant, { scope: "write", ended_by: null })
        await call(person, "/grants/revoke", { grant_id: grant?.id })
        const asked = provider.asked.length
        const refused = await client.callTool({ name: "get_account", arguments: {} }).catch((error: unknown) => error)
        assert.instanceOf(refused, UnauthorizedError)
        assert.strictEqual(provider.asked.length, asked + 1, "the client asks the person again")
      })
    }

    // One journey is enough on Deno.
    if (runtime === "deno") return

    it("survives that the client refreshes for several calls at once", async () => {
      const provider = new Provider()
      const client = await signIn(person, provider)
      provider.loseAccessToken()
      await Promise.all(Array.from({ length: 5 }, () => client.callTool({ name: "get_account", arguments: {} })))
      provider.loseAccessToken()
      await client.callTool({ name: "get_account", arguments: {} })
      assert.deepInclude((await grantsOf(person)).at(-1), { ended_by: null })
    })

    it("asks for more if the person allowed only to read", async () => {
      const provider = new Provider()
      const client = await signIn(person, provider, "read")
      const refused = await client
        .callTool({ name: "delete_rule", arguments: { rule_id: "r" } })
        .catch((error) => error)
      assert.instanceOf(refused, UnauthorizedError)
      assert.strictEqual(provider.asked.at(-1)?.searchParams.get("scope"), "read write")
    })

    it("reads a document once, and refuses one that is not the client's own, or cannot be read", async () => {
      await signIn(person, new Provider(`${documents}/once.json`))
      await signIn(person, new Provider(`${documents}/once.json`))
      assert.lengthOf(
        reads.filter((path) => path === "/once.json"),
        1
      )
      const wrong: ReadonlyArray<readonly [path: string, says: RegExp]> = [
        ["/stolen.json", /client_id in its document is not this address/],
        ["/secret.json", /client secret/],
        ["/redirect.json", /HTTP 302/],
        ["/text.json", /not a JSON object/],
        ["/large.json", /longer than 65536 bytes/],
        ["/slow.json", /no answer within 5 seconds/]
      ]
      for (const [path, says] of wrong) {
        const provider = new Provider(documents + path)
        await ask(person, provider)
        const response = await fetch(provider.asked.at(-1) ?? "", { redirect: "manual" })
        assert.strictEqual(response.status, 400, path)
        assert.match(await response.text(), says)
      }
    })
  })
}

// ---- helpers ----

const transportOf = ({ url }: Target, authProvider: Provider) =>
  new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider })

/** The client finds out that it must ask the person. */
const ask = async (person: Target, provider: Provider): Promise<StreamableHTTPClientTransport> => {
  const transport = transportOf(person, provider)
  const refused = await new Client({ name: "test", version: "1" }).connect(transport).catch((error: unknown) => error)
  assert.instanceOf(refused, UnauthorizedError)
  return transport
}

const signIn = async (person: Target, provider: Provider, decision = "write"): Promise<Client> => {
  const transport = await ask(person, provider)
  const asked = await fetch(provider.asked.at(-1) ?? "", { redirect: "manual" })
  const answer = await decide(person, requestIn(asked), decision)
  assert.strictEqual(answer.get("state"), provider.state())
  await transport.finishAuth(answer)
  const client = new Client({ name: "test", version: "1" })
  await client.connect(transportOf(person, provider))
  return client
}
