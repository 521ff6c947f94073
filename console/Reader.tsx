/** The signed-in reader: the account, and what the key may do. */
import { useQuery } from "@tanstack/react-query"
import { type ComponentChildren, createContext } from "preact"
import { useContext } from "preact/hooks"
import { type Answers, problemOf, useTRPC } from "./client.ts"
import { ProblemNote } from "./parts/ProblemNote.tsx"
import { Waiting } from "./parts/Waiting.tsx"

type Account = Answers["account"]["get"]

export interface ReaderFacts {
  readonly account: Account
  /** A control that needs more than the key allows is not shown. */
  readonly may: (scope: Account["scope"]) => boolean
}

export const Reader = ({
  children,
  onSignOut
}: {
  readonly children: ComponentChildren
  readonly onSignOut: () => void
}) => {
  const { data: account, error, refetch } = useQuery(useTRPC().account.get.queryOptions())
  if (account === undefined && error === null) return <Waiting />
  if (account === undefined) {
    return (
      <main class="sign-in">
        <ProblemNote problem={problemOf(error)} onRetry={() => void refetch()} />
        <button type="button" onClick={onSignOut}>
          Sign in with another key
        </button>
      </main>
    )
  }
  const may: ReaderFacts["may"] = (scope) => LEVELS.indexOf(account.scope) >= LEVELS.indexOf(scope)
  return <Facts.Provider value={{ account, may }}>{children}</Facts.Provider>
}

export const useReader = (): ReaderFacts => {
  const facts = useContext(Facts)
  if (facts === undefined) throw new Error("There is no reader around this component")
  return facts
}

// ---- helpers ----

const LEVELS: ReadonlyArray<Account["scope"]> = ["read", "write", "admin"]

const Facts = createContext<ReaderFacts | undefined>(undefined)
