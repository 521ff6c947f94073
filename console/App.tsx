/** Who is signed in, and which page is shown. */
import { QueryClientProvider } from "@tanstack/react-query"
import { lazy, Suspense } from "preact/compat"
import { useMemo, useState } from "preact/hooks"
import { Route, Router, Switch, useLocation } from "wouter-preact"
import { makeClient, makeQueryClient, TRPCProvider } from "./client.ts"
import { Frame } from "./Frame.tsx"
import { Empty } from "./parts/Empty.tsx"
import { PageBoundary } from "./parts/PageBoundary.tsx"
import { Waiting } from "./parts/Waiting.tsx"
import { PlatformsPage } from "./platforms/PlatformsPage.tsx"
import { Reader } from "./Reader.tsx"
import { RulePage } from "./rules/RulePage.tsx"
import { RulesPage } from "./rules/RulesPage.tsx"
import { SignIn } from "./SignIn.tsx"
import { forgetKey, storedKey, storeKey, takeKeyFromAddress } from "./session.ts"

const MatchesPage = lazy(() => import("./matches/MatchesPage.tsx").then((page) => page.MatchesPage))
const CoveragePage = lazy(() => import("./coverage/CoveragePage.tsx").then((page) => page.CoveragePage))
const EditorPage = lazy(() => import("./editor/EditorPage.tsx").then((page) => page.EditorPage))
const WebhooksPage = lazy(() => import("./webhooks/WebhooksPage.tsx").then((page) => page.WebhooksPage))
const ConsentPage = lazy(() => import("./grants/ConsentPage.tsx").then((page) => page.ConsentPage))
const KeysPage = lazy(() => import("./keys/KeysPage.tsx").then((page) => page.KeysPage))

export const App = () => {
  const [key, setKey] = useState(firstKey)
  if (key === undefined) {
    const signIn = (entered: string, isRemembered: boolean) => {
      storeKey(entered, isRemembered)
      setKey(entered)
    }
    return <SignIn onKey={signIn} />
  }
  const signOut = () => {
    forgetKey()
    setKey(undefined)
  }
  return <SignedIn key={key} apiKey={key} onSignOut={signOut} />
}

// ---- helpers ----

/** Of the link that the server prints, or of the last sign-in. */
const firstKey = (): string | undefined => {
  const given = takeKeyFromAddress()
  if (given !== undefined) storeKey(given, false)
  return given ?? storedKey()
}

const SignedIn = ({ apiKey, onSignOut }: { readonly apiKey: string; readonly onSignOut: () => void }) => {
  const client = useMemo(() => makeClient(apiKey), [apiKey])
  const queryClient = useMemo(makeQueryClient, [apiKey])
  return (
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={client} queryClient={queryClient}>
        <Reader onSignOut={onSignOut}>
          <Router base="/console">
            <Frame onSignOut={onSignOut}>
              <Page />
            </Frame>
          </Router>
        </Reader>
      </TRPCProvider>
    </QueryClientProvider>
  )
}

const Page = () => {
  const [path] = useLocation()
  return (
    <PageBoundary key={path}>
      <Suspense fallback={<Waiting />}>
        <Switch>
          <Route path="/" component={RulesPage} />
          <Route path="/rules/new" component={EditorPage} />
          <Route path="/rules/:id/edit" component={EditorPage} />
          <Route path="/rules/:id" component={RulePage} />
          <Route path="/matches" component={MatchesPage} />
          <Route path="/coverage" component={CoveragePage} />
          <Route path="/platforms" component={PlatformsPage} />
          <Route path="/webhooks" component={WebhooksPage} />
          <Route path="/keys" component={KeysPage} />
          <Route path="/consent" component={ConsentPage} />
          <Route>
            <Empty title="Page not found">Choose a page from the menu above.</Empty>
          </Route>
        </Switch>
      </Suspense>
    </PageBoundary>
  )
}
