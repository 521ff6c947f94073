/** What an application gives to the official MCP client, so that it signs in: everything in memory. */
import { assert } from "@effect/vitest"
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthTokens
} from "@modelcontextprotocol/client"

export class Provider implements OAuthClientProvider {
  readonly redirectUrl: string = "http://127.0.0.1:8976/callback"
  readonly clientMetadataUrl?: string
  readonly clientMetadata: OAuthClientMetadata = {
    client_name: "A test of the official client",
    redirect_uris: [this.redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "none"
  }
  /** The addresses that the application would open in a browser. */
  readonly asked: Array<URL> = []
  private stored: { tokens?: OAuthTokens; client?: OAuthClientInformationMixed; discovery?: OAuthDiscoveryState } = {}
  private verifier = ""

  constructor(clientMetadataUrl?: string) {
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl
  }

  state = () => "a state of the client"
  clientInformation = () => this.stored.client
  saveClientInformation = (client: OAuthClientInformationMixed) => {
    this.stored.client = client
  }
  tokens = () => this.stored.tokens
  saveTokens = (tokens: OAuthTokens) => {
    this.stored.tokens = tokens
  }
  codeVerifier = () => this.verifier
  saveCodeVerifier = (verifier: string) => {
    this.verifier = verifier
  }
  discoveryState = () => this.stored.discovery
  saveDiscoveryState = (discovery: OAuthDiscoveryState) => {
    this.stored.discovery = discovery
  }
  redirectToAuthorization = (url: URL) => {
    this.asked.push(url)
  }
  invalidateCredentials = (what: string) => {
    if (what === "tokens" || what === "all") delete this.stored.tokens
    if (what === "client" || what === "all") delete this.stored.client
  }

  /** As after an hour. */
  loseAccessToken(): void {
    const { tokens } = this.stored
    assert.isDefined(tokens)
    if (tokens !== undefined) this.stored.tokens = { ...tokens, access_token: "eat_expired" }
  }
}
