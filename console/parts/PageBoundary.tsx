/** Says what went wrong with a page, where nothing would be shown otherwise. */
import type { ComponentChildren } from "preact"
import { useErrorBoundary } from "preact/hooks"
import { ProblemNote } from "./ProblemNote.tsx"

export const PageBoundary = ({ children }: { readonly children: ComponentChildren }) => {
  const [error] = useErrorBoundary((cause: unknown) => console.error(cause))
  if (error === undefined) return <>{children}</>
  // Most often a part of the page could not be loaded. A new version of the server has other parts.
  return <ProblemNote problem={FAILED} onRetry={() => location.reload()} />
}

// ---- helpers ----

const FAILED = {
  code: "unavailable",
  message: "This page could not be loaded: the server cannot be reached or was just updated."
}
