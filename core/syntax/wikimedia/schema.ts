/** The form of a wiki change, for documentation and client types. Unknown fields are allowed. */
import { Schema } from "effect"
import { open, optional } from "../expression/openSchema.ts"

const Text = optional(Schema.String)
const Numbers = optional(open({ old: optional(Schema.Number), new: optional(Schema.Number) }))

export const wikimediaSchema = open({
  meta: open({ id: Text, dt: Text, uri: Text, domain: Text }),
  type: Text,
  namespace: optional(Schema.Number),
  title: Text,
  title_url: Text,
  comment: Text.annotations({ description: "The edit summary, in wikitext" }),
  user: Text.annotations({ description: "Absent if it is hidden" }),
  bot: optional(Schema.Boolean),
  minor: optional(Schema.Boolean),
  length: Numbers.annotations({ description: "Of the page, in bytes" }),
  revision: Numbers,
  log_type: Text,
  log_action: Text,
  server_name: Text,
  wiki: Text,
  notify_url: Text.annotations({ description: "Shows the difference" })
}).annotations({ description: "A change on a wiki of the Wikimedia Foundation" })
