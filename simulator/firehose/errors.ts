/** Firehose's error replies. */
import type { Settings } from "../settings.ts"
import { jsonReply, type Reply } from "../wire.ts"

/** `errors` holds messages by field. */
export const failure = (
  { firehose }: Settings,
  status: number,
  message: string,
  options: {
    readonly errors?: Readonly<Record<string, ReadonlyArray<string>>>
    readonly headers?: Readonly<Record<string, string>>
  } = {}
): Reply =>
  jsonReply(
    status,
    firehose.error_body === "nested"
      ? { error: { message, code: errorCodes[status] ?? "error" } }
      : { message, ...(options.errors !== undefined && { errors: options.errors }) },
    options.headers
  )

export const unprocessable = (settings: Settings, field: string, message: string): Reply =>
  failure(settings, 422, message, { errors: { [field]: [message] } })

export const badParameter = (settings: Settings, name: string, message: string): Reply =>
  failure(settings, settings.firehose.bad_parameter_status, message, { errors: { [name]: [message] } })

export const unauthenticated = (settings: Settings, status = 401): Reply =>
  failure(settings, status, status === 401 ? "Unauthenticated." : "This action is unauthorized.")

export const notFound = (settings: Settings): Reply => failure(settings, 404, "Not found.")

export const tooManyAttempts = (settings: Settings, seconds: number | undefined): Reply =>
  failure(settings, 429, "Too Many Attempts.", {
    ...(seconds !== undefined && settings.firehose.retry_after && { headers: { "retry-after": String(seconds) } })
  })

export const noCredit = (settings: Settings): Reply =>
  failure(settings, 402, "Your organization has no credit left. Top up to open new streams.")

export const NO_RULES = "No rules configured. Create rules first via POST /v1/rules."

// ---- helpers ----

const errorCodes: Readonly<Record<number, string>> = {
  400: "bad_request",
  401: "unauthenticated",
  402: "payment_required",
  403: "forbidden",
  404: "not_found",
  422: "validation_error",
  429: "rate_limited"
}
