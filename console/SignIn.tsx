/** Asks for a key and tries it. */
import { useState } from "preact/hooks"
import { makeClient, type Problem, problemOf } from "./client.ts"
import { ProblemNote } from "./parts/ProblemNote.tsx"

export const SignIn = ({ onKey }: { readonly onKey: (key: string, isRemembered: boolean) => void }) => {
  const [key, setKey] = useState("")
  const [isRemembered, setRemembered] = useState(false)
  const [isTrying, setTrying] = useState(false)
  const [problem, setProblem] = useState<Problem>()

  const tryKey = async (event: Event) => {
    event.preventDefault()
    setTrying(true)
    try {
      await makeClient(key.trim()).account.get.query()
      onKey(key.trim(), isRemembered)
    } catch (error) {
      const problem = problemOf(error)
      setProblem(problem.code === "unauthenticated" ? UNKNOWN_KEY : problem)
      setTrying(false)
    }
  }

  return (
    <main class="sign-in">
      <h1>Earshot</h1>
      {location.pathname.endsWith("/consent") && (
        <p>
          A program asks for access to Earshot. Sign in with an API key to see which one it is and what it wants.
          Nothing is allowed before you say so.
        </p>
      )}
      <form onSubmit={tryKey}>
        <label>
          API key
          <input
            type="password"
            autocomplete="off"
            required
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={isRemembered}
            onChange={(event) => setRemembered(event.currentTarget.checked)}
          />
          Remember the key in this browser
        </label>
        {problem !== undefined && <ProblemNote problem={problem} />}
        <button type="submit" class="main" disabled={isTrying}>
          {isTrying ? "Signing in…" : "Sign in"}
        </button>
      </form>
      <p class="quiet">
        The server printed a key when it first started, or wrote it to the file <code>first-key</code> in its data
        folder. To create another one, run <code>npx earshot keys create</code>. If the browser does not remember the
        key, you sign in again in each new tab.
      </p>
    </main>
  )
}

// ---- helpers ----

/** The service tells programs which header to send. */
const UNKNOWN_KEY: Problem = {
  code: "unauthenticated",
  message: "This key is unknown, expired or revoked. Check that you copied all of it."
}
