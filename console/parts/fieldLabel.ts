/** Fields of requests by the labels that the reader sees. */
import { platformName } from "./platformName.ts"

/** Undefined for a field that no form shows. `rule_ids.0` is a part of `rule_ids`. */
export const fieldLabel = (path: string): string | undefined => {
  const [field = "", part = ""] = path.split(".")
  if (field === "overrides" && part !== "") return `Filter for ${platformName(part)}`
  if (field === "events" && part !== "" && !/^\d+$/.test(part)) return "Event"
  return LABELS[field]
}

// ---- helpers ----

const LABELS: Readonly<Record<string, string>> = {
  name: "Name",
  intent: "Intent",
  platforms: "Where to watch",
  url: "URL",
  description: "Description",
  events: "What to send",
  rule_ids: "Rules",
  expires_at: "Expires",
  rule_id: "Rule",
  platform: "Platform",
  from: "From",
  to: "To"
}
