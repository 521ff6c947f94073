/** CodeMirror for one filter: colors, diagnostics, completion, and the looks of the console. */
import { autocompletion, type Completion } from "@codemirror/autocomplete"
import { history, historyKeymap, standardKeymap } from "@codemirror/commands"
import { bracketMatching } from "@codemirror/language"
import { type Diagnostic, lintGutter, nextDiagnostic, setDiagnostics } from "@codemirror/lint"
import { type Extension, RangeSetBuilder } from "@codemirror/state"
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  placeholder,
  ViewPlugin,
  type ViewUpdate
} from "@codemirror/view"
import type { Answers } from "../client.ts"
import { completing } from "./completion.ts"
import type { EditorLanguage } from "./languages.ts"
import type { TokenKind } from "./tokens.ts"

export type Issue = Answers["rules"]["check"]["platforms"][string]["issues"][number]

export interface EditorOptions {
  readonly label: string
  readonly language: EditorLanguage
  readonly completions: () => ReadonlyArray<Completion>
  readonly onChange: (text: string) => void
}

/** Tab is not bound: it leaves the editor. */
export const extensionsOf = ({ label, language, completions, onChange }: EditorOptions): Extension => [
  history(),
  keymap.of([...standardKeymap, ...historyKeymap, { key: "F8", run: nextDiagnostic }]),
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({ "aria-label": label }),
  EditorView.updateListener.of((update) => {
    if (update.docChanged) onChange(update.state.doc.toString())
  }),
  placeholder(`For example: ${language.starter.rule}`),
  bracketMatching({ brackets: "()[]{}" }),
  lintGutter(),
  autocompletion({ override: [completing(language, completions)], icons: false }),
  colors(language),
  theme
]

/** Replaces the text as one step to undo. What stays at its beginning and end is not touched. */
export const replaceText = (view: EditorView, text: string): void => {
  const before = view.state.doc.toString()
  if (before === text) return
  let start = 0
  while (start < before.length && before[start] === text[start]) start++
  let end = 0
  const longest = Math.min(before.length, text.length) - start
  while (end < longest && before.at(-1 - end) === text.at(-1 - end)) end++
  view.dispatch({
    changes: { from: start, to: before.length - end, insert: text.slice(start, text.length - end) },
    userEvent: "input.replace"
  })
}

/** The issues of a text that the editor may no longer have: they are then not shown. */
export const showIssues = (view: EditorView, text: string, issues: ReadonlyArray<Issue>): void => {
  if (view.state.doc.toString() !== text) return
  view.dispatch(setDiagnostics(view.state, issues.map(toDiagnostic)))
}

// ---- helpers ----

const toDiagnostic = ({ span, severity, message, fix }: Issue): Diagnostic => ({
  from: span.start,
  to: span.end,
  severity,
  message,
  ...(fix !== undefined && { actions: [{ name: fix.message, apply: (view) => replaceText(view, fix.text) }] })
})

const MARKS: Readonly<Record<TokenKind, Decoration>> = {
  field: Decoration.mark({ class: "token-field" }),
  value: Decoration.mark({ class: "token-value" }),
  keyword: Decoration.mark({ class: "token-keyword" }),
  phrase: Decoration.mark({ class: "token-phrase" }),
  tag: Decoration.mark({ class: "token-tag" }),
  sign: Decoration.mark({ class: "token-sign" })
}

const colors = ({ tokens }: EditorLanguage): Extension => {
  const colored = (view: EditorView): DecorationSet => {
    const marks = new RangeSetBuilder<Decoration>()
    for (const { kind, start, end } of tokens(view.state.doc.toString())) marks.add(start, end, MARKS[kind])
    return marks.finish()
  }
  return ViewPlugin.define(
    (view) => ({
      marks: colored(view),
      update({ docChanged, view }: ViewUpdate) {
        if (docChanged) this.marks = colored(view)
      }
    }),
    { decorations: ({ marks }) => marks }
  )
}

const wavy = (color: string) => ({
  backgroundImage: "none",
  textDecoration: `underline wavy ${color}`,
  textUnderlineOffset: "3px",
  paddingBottom: "0"
})

/** No images: the policy of the page may not allow those of CodeMirror, which are data addresses. */
const marker = (sign: string, color: string) => ({
  content: "none",
  "&::before": { content: `"${sign}"`, color, fontWeight: "700", fontSize: "0.85em" }
})

const TOOLTIP = {
  color: "var(--ink)",
  backgroundColor: "var(--paper)",
  border: "1px solid var(--line)",
  borderRadius: "var(--radius)"
}

/** The tokens of the style sheet are inherited by the shadow tree; its rules are not. */
const theme = EditorView.theme({
  "&": {
    color: "var(--ink)",
    backgroundColor: "var(--paper)",
    border: "1px solid var(--line)",
    borderRadius: "var(--radius)",
    fontSize: "0.95rem"
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-1px" },
  ".cm-scroller": { fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace', lineHeight: "1.6" },
  ".cm-content": { minHeight: "5.5rem", padding: "0.5rem 0", caretColor: "var(--ink)", overflowWrap: "anywhere" },
  ".cm-line": { padding: "0 0.6rem 0 0.2rem" },
  ".cm-placeholder": { color: "var(--quiet)" },
  ".cm-gutters": { color: "var(--quiet)", backgroundColor: "transparent", border: "none" },
  ".cm-gutter-lint": { width: "1.2rem" },
  ".cm-lint-marker": { width: "1em", height: "auto" },
  ".cm-lint-marker-error": marker("✕", "var(--bad)"),
  ".cm-lint-marker-warning": marker("!", "var(--warn)"),
  ".cm-lintRange-error": wavy("var(--bad)"),
  ".cm-lintRange-warning": wavy("var(--warn)"),
  ".cm-lintRange-active": { backgroundColor: "var(--mark)" },
  ".cm-lintPoint-error::after": { borderBottomColor: "var(--bad)" },
  ".cm-lintPoint-warning::after": { borderBottomColor: "var(--warn)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--mark)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "transparent" },
  ".cm-tooltip": { ...TOOLTIP, maxWidth: "min(32rem, 90vw)", zIndex: "5" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "inherit", maxHeight: "14rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "0.2rem 0.6rem" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    color: "var(--on-accent)",
    backgroundColor: "var(--accent)"
  },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "0.8" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-tooltip.cm-completionInfo": {
    ...TOOLTIP,
    padding: "0.5rem 0.7rem",
    fontFamily: "system-ui, sans-serif",
    fontSize: "0.9rem",
    lineHeight: "1.4"
  },
  ".cm-diagnostic": { padding: "0.4rem 0.7rem", fontFamily: "system-ui, sans-serif", fontSize: "0.9rem" },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--bad)" },
  ".cm-diagnostic-warning": { borderLeft: "4px solid var(--warn)" },
  ".cm-diagnosticAction": {
    font: "inherit",
    color: "var(--on-accent)",
    backgroundColor: "var(--accent)",
    padding: "0.2rem 0.6rem",
    margin: "0.4rem 0 0",
    display: "block"
  },
  ".token-field": { color: "var(--accent)" },
  ".token-value": { color: "var(--good)" },
  ".token-phrase": { color: "var(--good)" },
  ".token-tag": { color: "var(--accent)", fontWeight: "600" },
  ".token-keyword": { color: "var(--accent)", fontWeight: "700" },
  ".token-sign": { color: "var(--bad)" }
})
