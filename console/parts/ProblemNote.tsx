/** An error as the service tells it: what is wrong, where, and what to do. */
import type { Problem } from "../client.ts"
import { fieldLabel } from "./fieldLabel.ts"

export const ProblemNote = ({ problem, onRetry }: { readonly problem: Problem; readonly onRetry?: () => void }) => {
  const issues = issuesIn(problem.details)
  return (
    <div class="problem" role="alert">
      {/* The message sums up the issues. */}
      {issues.length === 0 && <p>{problem.message}</p>}
      {issues.map(({ path, message }) => (
        <p key={path + message}>
          <Place path={path} /> {message}
        </p>
      ))}
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

// ---- helpers ----

const Place = ({ path }: { readonly path: string }) => {
  const label = fieldLabel(path)
  if (label !== undefined) return <strong>{label}:</strong>
  return path === "" ? null : <code>{path}</code>
}

interface Issue {
  readonly path: string
  readonly message: string
}

/** Of the details, the issues with a place. */
const issuesIn = (details: unknown): ReadonlyArray<Issue> => {
  if (typeof details !== "object" || details === null || !("issues" in details) || !Array.isArray(details.issues)) {
    return []
  }
  return details.issues.flatMap((issue: unknown) =>
    typeof issue === "object" && issue !== null && "message" in issue && typeof issue.message === "string"
      ? [{ path: "path" in issue && typeof issue.path === "string" ? issue.path : "", message: issue.message }]
      : []
  )
}
