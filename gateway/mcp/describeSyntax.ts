/** Describes the filter syntax of a platform in short: every operator with an example. */
import type { SyntaxHelp } from "../../core/platforms/Platform.ts"
import { code } from "../../core/syntax/help/page.ts"

/** At most `MAX_CHARACTERS`, about 900 tokens. */
export const describeSyntax = ({ platform, summary, operators, examples }: SyntaxHelp): string => {
  const lines = operators.map(({ name, example }) =>
    example === name ? `- ${code(example)}` : `- ${name}: ${code(example)}`
  )
  const head = [`# Filters on ${platform}, in short`, summary, "Operators, each with an example:"]
  const foot = [
    "Complete filters:",
    examples
      .slice(0, MAX_EXAMPLES)
      .map(({ rule }) => `- ${code(rule)}`)
      .join("\n"),
    `Values, limits and common mistakes: platform_syntax with {"platforms": ["${platform}"], "detail": "full"}. check_rule tells what is wrong with a filter, with a fix.`
  ]
  let space = MAX_CHARACTERS - [...head, lines.join("\n"), ...foot].join("\n\n").length
  // As many explanations as fit, the general operators first.
  const explained = lines.map((line, index) => {
    const [meaning = ""] = operators[index]?.description.split(/(?<=[a-z])\. /) ?? []
    const text = ` (${meaning})`
    if (text.length > space || meaning.length > MAX_MEANING) return line
    space -= text.length
    return line + text
  })
  return [...head, explained.join("\n"), ...foot].join("\n\n")
}

// ---- helpers ----

const MAX_CHARACTERS = 3_600
const MAX_EXAMPLES = 3
const MAX_MEANING = 120
