/** Reads the operators that stand before a clause, and reports those with nothing to join or to act on. */
import { AND, CLOSE, END, type Lexer, lastNonSpace, MINUS, NOT, OR, PLUS } from "./lexer.ts"
import { quoted, type Report } from "./report.ts"

/** Conjunction := "AND" | "&&" | "OR" | "||". Stays on the token. */
export const readConjunction = (lexer: Lexer, report: Report, isFirst: boolean): "and" | "or" | undefined => {
  if (isFirst && (lexer.kind === AND || lexer.kind === OR)) {
    const { start } = lexer
    let { end } = lexer
    while (lexer.kind === AND || lexer.kind === OR) {
      end = lexer.end
      lexer.advance()
    }
    const word = report.text.slice(start, end)
    report.error("leading-operator", start, end, `Nothing stands before ${quoted(word)} for it to join`, {
      expected: ["a word", "a phrase", "a field", "("],
      fix: report.fix(`Remove ${quoted(word)}`, start, Math.min(lexer.start, report.text.length), "")
    })
  }
  return lexer.kind === AND ? "and" : lexer.kind === OR ? "or" : undefined
}

/** Goes past the conjunctions that follow the first one. */
export const refuseRepeats = (lexer: Lexer, report: Report): void => {
  const start = lexer.start
  let end = start
  while (lexer.kind === AND || lexer.kind === OR) {
    end = lexer.end
    lexer.advance()
  }
  if (end > start) {
    report.error("doubled-operator", start, end, "Two operators follow each other: one clause is missing", {
      expected: ["a word", "a phrase", "a field", "NOT", "("],
      fix: report.fix("Keep the first operator", start, Math.min(lexer.start, report.text.length), "")
    })
  }
}

/** Modifier := "+" | "-" | "!" | "NOT" */
export const readModifier = (lexer: Lexer, report: Report): "not" | "plus" | undefined => {
  let modifier: "not" | "plus" | undefined
  let extraStart = -1
  let extraEnd = -1
  while (lexer.kind === NOT || lexer.kind === MINUS || lexer.kind === PLUS) {
    if (modifier === undefined) {
      modifier = lexer.kind === PLUS ? "plus" : "not"
    } else {
      extraStart = extraStart === -1 ? lexer.start : extraStart
      extraEnd = lexer.end
    }
    lexer.advance()
  }
  if (extraStart !== -1) {
    report.error("doubled-modifier", extraStart, extraEnd, "A clause takes one of NOT, !, + and -: here are more", {
      fix: report.fix("Keep the first one", extraStart, Math.min(lexer.start, report.text.length), "")
    })
  }
  return modifier
}

/** True when the operators from `start` on have no clause after them; the clause before them ends at `previousEnd`. */
export const refuseDangling = (lexer: Lexer, report: Report, start: number, previousEnd: number): boolean => {
  const { kind } = lexer
  if (kind !== END && kind !== CLOSE && kind !== AND && kind !== OR) {
    return false
  }
  const end = Math.max(start, lastNonSpace(report.text, lexer.start))
  const word = report.text.slice(start, end)
  report.error("dangling-operator", start, end, `Nothing stands after ${quoted(word)} for it to act on`, {
    expected: ["a word", "a phrase", "a field", "("],
    fix: report.fix(`Remove ${quoted(word)}`, Math.min(previousEnd, start), end, "")
  })
  return true
}
