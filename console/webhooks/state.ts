/** The state of a webhook in words: what became of its messages, not only what the server intends. */
import type { Answers } from "../client.ts"

export type Webhook = Answers["webhooks"]["list"]["webhooks"][number]

export interface ShownState {
  readonly name: string
  /** A class of the style sheet. */
  readonly look: "active" | "pending" | "failed" | "idle"
}

export const shownState = ({
  state,
  last_delivery,
  last_attempt
}: Pick<Webhook, "state" | "last_delivery" | "last_attempt">): ShownState => {
  if (state === "disabled") return { name: "Disabled", look: "failed" }
  if (state === "retrying") return { name: "Deliveries are failing", look: "failed" }
  if (last_attempt === undefined) return { name: "Ready, nothing sent yet", look: "idle" }
  if (last_attempt.outcome === "failed") {
    return { name: last_attempt.kind === "test" ? "The last test failed" : "The last attempt failed", look: "pending" }
  }
  return last_delivery?.outcome === "delivered"
    ? { name: "Delivering", look: "active" }
    : { name: "Ready", look: "active" }
}
