/** Examples that several contracts share. */

export const EXAMPLE_RULE = "rule_01kzyn3v8jf9g8w3q5r7t2x4c6"

export const EXAMPLE_MATCH = "match_01kzyn5a2me0vb6h9d4s8y1k3p"

export const EXAMPLE_REGISTRATION = {
  platform_rule_id: "1866112233445566778",
  translated_value: "earthquake lang:en"
}

export const exampleDetails = {
  name: "Earthquakes",
  intent: "Learn of earthquakes within a minute of the first posts"
}

export const exampleRule = {
  id: EXAMPLE_RULE,
  ...exampleDetails,
  platforms: { x: { ...EXAMPLE_REGISTRATION, state: "active" as const } },
  created_at: "2026-11-15T08:30:00.000Z",
  version: 2
}

export const exampleMatch = {
  id: EXAMPLE_MATCH,
  rule_id: EXAMPLE_RULE,
  rule_version: 1,
  created_at: "2026-11-15T08:31:07.402Z",
  platform: "x",
  platform_post_id: "1866223344556677889",
  payload: { data: { id: "1866223344556677889", text: "Felt a strong earthquake just now" } }
}
