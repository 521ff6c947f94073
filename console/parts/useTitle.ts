/** The title of the tab. */
import { useEffect } from "preact/hooks"

export const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = `${title} · Earshot`
  }, [title])
}
