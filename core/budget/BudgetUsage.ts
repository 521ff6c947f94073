/** What is used of the budget of a platform, as an account or the operator sees it. */
import { Schema } from "effect"
import { AccountId } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"

const Cost = Schema.Number.annotations({ description: "`used` times `price_per_post`, in US dollars" })

export const BudgetUsage = Schema.Struct({
  month: Schema.String.annotations({ description: "The calendar month in UTC, such as 2026-11" }),
  limit: optional(
    Schema.Number,
    "Posts per month. The rules with the most posts are paused before it is used up. Absent: no limit"
  ),
  used_percent: optional(Schema.Number, "How much of the limit the rules of all accounts have used"),
  warning: optional(Schema.String, "In plain text, from 80 % on, or while rules are paused"),
  used: Schema.Number.annotations({
    description: "Posts received for the rules of the account; to the operator, all posts"
  }),
  price_per_post: Schema.Number.annotations({ description: "In US dollars" }),
  cost: Cost,
  paused: Schema.Number.annotations({ description: "Rules that are paused, of all accounts" }),
  accounts: optional(
    Schema.Array(Schema.Struct({ account: AccountId, name: Schema.String, used: Schema.Number, cost: Cost })),
    "To the operator: the share of each account, largest first. A post counts for each account that receives it"
  )
}).annotations({ identifier: "BudgetUsage" })
export type BudgetUsage = typeof BudgetUsage.Type
