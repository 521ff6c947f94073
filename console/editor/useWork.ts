/** The draft of the reader, kept in the tab until it is saved or discarded. */
import { useEffect, useState } from "preact/hooks"
import { type Draft, isSame, readWork, type Work } from "./draft.ts"

export const useWork = (name: string, saved: Work) => {
  const [stored] = useState(() => readWork(sessionStorage.getItem(name)))
  const [work, setWork] = useState(stored ?? saved)
  const isChanged = !isSame(work.draft, saved.draft)

  useEffect(() => {
    if (isChanged) sessionStorage.setItem(name, JSON.stringify(work))
    else sessionStorage.removeItem(name)
  }, [work, isChanged])

  useEffect(() => {
    if (!isChanged) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener("beforeunload", warn)
    return () => removeEventListener("beforeunload", warn)
  }, [isChanged])

  return {
    work,
    isChanged,
    /** It was found in the tab when the page opened. */
    isRestored: stored !== undefined && isChanged,
    edit: (change: (draft: Draft) => Draft) => setWork((work) => ({ ...work, draft: change(work.draft) })),
    replace: setWork,
    forget: () => sessionStorage.removeItem(name)
  }
}
