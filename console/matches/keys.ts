/** The keys of the page. */
import { useEffect, useRef } from "preact/hooks"

export type KeyAction = "next" | "previous" | "json" | "why" | "filter" | "pause" | "top" | "help"

export interface Key {
  readonly key: string
  readonly name: string
  readonly action: KeyAction
  readonly help: string
}

export const KEYS: ReadonlyArray<Key> = [
  { key: "j", name: "j", action: "next", help: "select the next match" },
  { key: "k", name: "k", action: "previous", help: "select the previous match" },
  { key: "Enter", name: "Enter", action: "json", help: "open or close the JSON of the selected match" },
  { key: "w", name: "w", action: "why", help: "show or hide why it matched" },
  { key: " ", name: "space", action: "pause", help: "pause or resume the live tail" },
  { key: "Escape", name: "Esc", action: "top", help: "go back to the newest match" },
  { key: "/", name: "/", action: "filter", help: "go to the filter" },
  { key: "?", name: "?", action: "help", help: "show these shortcuts" }
]

/** What the reader presses, as far as it matters. */
export interface Press {
  readonly key: string
  readonly hasModifier: boolean
  /** The name of the element with the focus, in upper case. */
  readonly element: string
}

/** Nothing while the reader types, and no key that the focused element uses itself. */
export const actionOf = ({ key, hasModifier, element }: Press): KeyAction | undefined => {
  if (hasModifier || TYPED_INTO.includes(element)) return undefined
  if (PRESSED.includes(key) && PRESSABLE.includes(element)) return undefined
  return KEYS.find((one) => one.key === key)?.action
}

export const useKeys = (perform: (action: KeyAction) => void): void => {
  const latest = useRef(perform)
  latest.current = perform
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const target = event.target instanceof HTMLElement ? event.target : undefined
      // The dialog has keys of its own.
      if (target?.isContentEditable || target?.closest("dialog") != null) return
      const action = actionOf({
        key: event.key,
        hasModifier: event.ctrlKey || event.metaKey || event.altKey,
        element: target?.tagName ?? ""
      })
      if (action === undefined) return
      event.preventDefault()
      latest.current(action)
    }
    document.addEventListener("keydown", listen)
    return () => document.removeEventListener("keydown", listen)
  }, [])
}

// ---- helpers ----

const TYPED_INTO = ["INPUT", "SELECT", "TEXTAREA"]

const PRESSED = [" ", "Enter"]
const PRESSABLE = ["A", "BUTTON", "SUMMARY"]
