/** A fix that deletes a part of the rule. */
import type { Fix } from "../issues/issue.ts"
import type { Report } from "../issues/Report.ts"
import { isSpace } from "./characters.ts"

/** Also deletes the white space that would be left over. */
export const removal = (report: Report, message: string, start: number, end: number): Fix => {
  const { text } = report
  let from = start
  let to = end
  while (to < text.length && isSpace(text.charCodeAt(to))) {
    to++
  }
  if (to === text.length || text[to] === ")") {
    while (from > 0 && isSpace(text.charCodeAt(from - 1))) {
      from--
    }
  }
  return report.fix(message, from, to, "")
}
