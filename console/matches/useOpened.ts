/** What is opened of each match. Kept apart from the rows, which come and go while scrolling. */
import { useCallback, useState } from "preact/hooks"

export interface Opened {
  readonly json: boolean
  readonly why: boolean
  readonly whole: boolean
}

export const useOpened = () => {
  const [opened, setOpened] = useState<ReadonlyMap<string, Opened>>(new Map())
  const openedOf = (id: string): Opened => opened.get(id) ?? CLOSED
  const toggle = useCallback((id: string, part: keyof Opened) => {
    setOpened((all) => {
      const before = all.get(id) ?? CLOSED
      return new Map(all).set(id, { ...before, [part]: !before[part] })
    })
  }, [])
  return { openedOf, toggle }
}

// ---- helpers ----

const CLOSED: Opened = { json: false, why: false, whole: false }
