/** One rule in the list. */
import { Link } from "wouter-preact"
import type { Rule } from "../client.ts"
import { PlatformState } from "./PlatformState.tsx"

export const RuleRow = ({ rule }: { readonly rule: Rule }) => (
  <li class="row">
    <div class="row-main">
      <Link href={`/rules/${rule.id}`} class="row-title">
        {rule.name}
      </Link>
      <p class="quiet clipped">{rule.intent}</p>
    </div>
    <div class="row-side">
      {Object.entries(rule.platforms).map(([platform, registration]) => (
        <PlatformState key={platform} platform={platform} registration={registration} />
      ))}
    </div>
  </li>
)
