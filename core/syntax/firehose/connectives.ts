/** Parses the operators before a clause and reports operators without an operand. */

import type { Report } from "../issues/Report.ts"
import { AND, CLOSE, END, type Lexer, MINUS, NOT, OR, PLUS, trimEnd } from "./lexer.ts"
import { quoted } from "./quoted.ts"

/** Conjunction := "AND" | "&&" | "OR" | "||". Does not advance past it. */
export const readConjunction = (lexer: Lexer, report: Report, isFirst: boolean): "and" | "or" | undefined => {
  if (isFirst && (lexer.kind === AND || lexer.kind === OR)) {
    const { start } = lexer
    let { end } = lexer
    while (lexer.kind === AND || lexer.kind === OR) {
      end = lexer.end
      lexer.advance()
    }
    const word = report.text.slice(start, end)
    report.error("leading-operator", start, end, `There is no clause before ${quoted(word)}`, {
      expected: ["a word", "a phrase", "a field", "("],
      fix: report.fix(`Remove ${quoted(word)}`, start, Math.min(lexer.start, report.text.length), "")
    })
  }
  return lexer.kind === AND ? "and" : lexer.kind === OR ? "or" : undefined
}

/** Skips and reports further conjunctions. */
export const rejectRepeats = (lexer: Lexer, report: Report): void => {
  const start = lexer.start
  let end = start
  while (lexer.kind === AND || lexer.kind === OR) {
    end = lexer.end
    lexer.advance()
  }
  if (end > start) {
    report.error("doubled-operator", start, end, "A clause is missing between two operators", {
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
    report.error("doubled-modifier", extraStart, extraEnd, "A clause takes only one of NOT, !, + and -", {
      fix: report.fix("Keep the first one", extraStart, Math.min(lexer.start, report.text.length), "")
    })
  }
  return modifier
}

/** True if no clause follows the operators at `start`. The clause before them ends at `previousEnd`. */
export const rejectDangling = (lexer: Lexer, report: Report, start: number, previousEnd: number): boolean => {
  const { kind } = lexer
  if (kind !== END && kind !== CLOSE && kind !== AND && kind !== OR) return false
  const end = Math.max(start, trimEnd(report.text, lexer.start))
  const word = report.text.slice(start, end)
  report.error("dangling-operator", start, end, `There is no clause after ${quoted(word)}`, {
    expected: ["a word", "a phrase", "a field", "("],
    fix: report.fix(`Remove ${quoted(word)}`, Math.min(previousEnd, start), end, "")
  })
  return true
}
