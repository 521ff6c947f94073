/** An editor for the filter of one platform. */
import type { Completion } from "@codemirror/autocomplete"
import { EditorView } from "@codemirror/view"
import { type MutableRef, useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { platformName } from "../parts/platformName.ts"
import { extensionsOf, type Issue, replaceText, showIssues } from "./codeMirror.ts"
import { languageOf } from "./languages.ts"

export const FilterEditor = ({
  platform,
  text,
  checked,
  completions,
  focusRef,
  onChange
}: {
  readonly platform: string
  readonly text: string
  /** The issues of a text, which may be an older one. */
  readonly checked: { readonly text: string; readonly issues: ReadonlyArray<Issue> }
  readonly completions: ReadonlyArray<Completion>
  /** Receives a function that moves the focus into the editor. */
  readonly focusRef: MutableRef<() => void>
  readonly onChange: (text: string) => void
}) => {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<EditorView>()
  const latest = useRef({ onChange, completions })
  latest.current = { onChange, completions }

  useEffect(() => {
    if (host.current === null) return
    // In a shadow tree CodeMirror adopts style sheets; in a document it adds style elements, which the policy forbids.
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" })
    const view = new EditorView({
      doc: text,
      root,
      parent: root,
      extensions: extensionsOf({
        label: `Filter for ${platformName(platform)}`,
        language: languageOf(platform),
        completions: () => latest.current.completions,
        onChange: (text) => latest.current.onChange(text)
      })
    })
    editor.current = view
    focusRef.current = () => view.focus()
    return () => view.destroy()
  }, [platform])

  // Before the next key: later, an old text would undo what was typed since.
  useLayoutEffect(() => {
    if (editor.current !== undefined) replaceText(editor.current, text)
  }, [text])

  useEffect(() => {
    if (editor.current !== undefined) showIssues(editor.current, checked.text, checked.issues)
  }, [checked])

  return <div ref={host} class="filter-editor" />
}
