/** X's error replies and the error lines of its stream. */
import type { DisconnectType } from "../faults.ts"
import type { Settings } from "../settings.ts"
import { jsonReply, type Reply } from "../wire.ts"

const typeOf = ({ x }: Settings, name: string): string => `${x.problem_host}/2/problems/${name}`

export const plainProblem = (status: number, title: string, headers: Readonly<Record<string, string>> = {}): Reply =>
  jsonReply(status, { title, detail: title, type: "about:blank", status }, headers)

/** X sends no rate-limit headers with a 401. */
export const unauthorized = (): Reply => plainProblem(401, "Unauthorized")

export interface ParameterError {
  readonly message: string
  readonly parameters: Readonly<Record<string, ReadonlyArray<string>>>
}

export const invalidRequestBody = (settings: Settings, errors: ReadonlyArray<ParameterError>) => ({
  errors,
  title: "Invalid Request",
  detail: "One or more parameters to your request was invalid.",
  type: typeOf(settings, "invalid-request")
})

export const invalidRequest = (settings: Settings, error: ParameterError): Reply =>
  jsonReply(400, invalidRequestBody(settings, [error]))

export const tooManyRequests = (settings: Settings): Reply =>
  settings.x.rate_limit_body === "v1.1"
    ? jsonReply(429, { errors: [{ code: 88, message: "Rate limit exceeded" }] })
    : plainProblem(429, "Too Many Requests")

export const clientForbidden = (settings: Settings): Reply =>
  jsonReply(403, {
    client_id: CLIENT_APP_ID,
    detail:
      "When authenticating requests to the X API v2 endpoints, you must use keys and tokens from a developer App that is attached to a Project.",
    registration_url: "https://developer.x.com/en/docs/projects/overview",
    title: "Client Forbidden",
    required_enrollment: "Appropriate Level of API Access",
    reason: "client-not-enrolled",
    type: typeOf(settings, "client-forbidden")
  })

export const creditsDepleted = (settings: Settings): Reply =>
  jsonReply(402, {
    account_id: ACCOUNT_ID,
    title: "CreditsDepleted",
    detail: "Your enrolled account does not have any credits to fulfill this request.",
    type: typeOf(settings, "credits-depleted")
  })

export const noRules = (settings: Settings): Reply =>
  jsonReply(409, {
    title: "ConnectionException",
    detail:
      "You must define rules using the POST /2/tweets/search/stream/rules endpoint before connecting to filtered stream.",
    connection_issue: "RuleConfigurationIssue",
    type: typeOf(settings, "streaming-connection")
  })

export const tooManyConnections = (settings: Settings): Reply =>
  jsonReply(429, {
    title: "ConnectionException",
    detail: "This stream is currently at the maximum allowed connection limit.",
    connection_issue: "TooManyConnections",
    type: typeOf(settings, "streaming-connection")
  })

export const rulesCapExceeded = (settings: Settings, cap: number): Reply =>
  jsonReply(settings.x.rule_cap_status, {
    title: "RulesCapExceeded",
    detail: `Rules capacity exceeded: the app may hold ${cap} rules.`,
    type: typeOf(settings, "rule-cap")
  })

export const duplicateRule = (settings: Settings, rule: { readonly value: string; readonly id: string }) => ({
  value: rule.value,
  id: rule.id,
  title: "DuplicateRule",
  type: typeOf(settings, "duplicate-rules")
})

export const invalidRule = (settings: Settings, value: string, details: ReadonlyArray<string>) => ({
  value,
  details,
  title: "UnprocessableEntity",
  type: typeOf(settings, "invalid-rules")
})

/** In `errors` of a lookup. */
export const missingPost = (settings: Settings, id: string, isProtected: boolean) => ({
  value: id,
  detail: isProtected
    ? `Sorry, you are not authorized to see the Tweet with ids: [${id}].`
    : `Could not find tweet with ids: [${id}].`,
  title: isProtected ? "Authorization Error" : "Not Found Error",
  resource_type: "tweet",
  parameter: "ids",
  resource_id: id,
  type: typeOf(settings, isProtected ? "not-authorized-for-resource" : "resource-not-found")
})

export const disconnectLine = (settings: Settings, type: DisconnectType): string =>
  streamLine(settings, {
    title: "operational-disconnect",
    disconnect_type: type,
    detail: disconnectDetails[type],
    type: typeOf(settings, "operational-disconnect")
  })

export const usageCappedLine = (settings: Settings): string => streamLine(settings, usageCapProblem(settings))

/** `resetAt` is in milliseconds. */
export const usageCapped = (settings: Settings, resetAt: number): Reply =>
  jsonReply(429, usageCapProblem(settings), { "x-rate-limit-reset": String(Math.ceil(resetAt / 1_000)) })

export const CLIENT_APP_ID = "27000001"
export const PROJECT_ID = "1700000000000000001"

// ---- helpers ----

const ACCOUNT_ID = "1600000000000000001"

const usageCapProblem = (settings: Settings) => ({
  title: "UsageCapExceeded",
  detail: "Usage cap exceeded: Monthly product cap",
  period: "Monthly",
  scope: "Product",
  type: typeOf(settings, "usage-capped")
})

const streamLine = ({ x }: Settings, problem: unknown): string =>
  `${JSON.stringify(x.stream_errors === "bare" ? problem : { errors: [problem] })}\r\n`

const disconnectDetails: Readonly<Record<DisconnectType, string>> = {
  OperationalDisconnect: "This stream has been disconnected for operational reasons.",
  UpstreamOperationalDisconnect: "This stream has been disconnected upstream for operational reasons.",
  ForceDisconnect: "This stream has been disconnected by the server.",
  UpstreamUncleanDisconnect: "This stream has been disconnected upstream uncleanly.",
  SlowReader: "This stream has been disconnected because the client reads too slowly.",
  InternalError: "This stream has been disconnected because of an internal error.",
  ClientApplicationStateDegraded: "This stream has been disconnected because the client application is degraded.",
  InvalidRules: "This stream has been disconnected because its rules are not valid."
}
