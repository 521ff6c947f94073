/** What is around every page: navigation, theme, sign out. */
import { useQuery } from "@tanstack/react-query"
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Link, useRoute } from "wouter-preact"
import { useTRPC } from "./client.ts"
import { useReader } from "./Reader.tsx"
import { nextTheme, setTheme, storedTheme } from "./theme.ts"

export const Frame = ({
  children,
  onSignOut
}: {
  readonly children: ComponentChildren
  readonly onSignOut: () => void
}) => {
  const { account, may } = useReader()
  return (
    <>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="bar">
        <Link href="/" class="brand">
          Earshot
        </Link>
        <nav aria-label="Pages">
          <Tab href="/" also="/rules/*?">
            Rules
          </Tab>
          <Tab href="/matches">Matches</Tab>
          <Tab href="/coverage">Coverage</Tab>
          <Tab href="/platforms">Platforms</Tab>
          <Tab href="/webhooks">Webhooks</Tab>
          <Tab href="/keys">{may("admin") ? "Keys and limits" : "Limits"}</Tab>
        </nav>
        <div class="who">
          <DemoNote />
          <span class="quiet account" title={account.id}>
            {account.name}
          </span>
          {!may("write") && <span class="quiet">read only</span>}
          <ThemeButton />
          <a href="/docs" target="_blank" rel="noopener noreferrer">
            API
          </a>
          <button type="button" class="plain" onClick={onSignOut}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </>
  )
}

// ---- helpers ----

const Tab = ({
  href,
  also,
  children
}: {
  readonly href: string
  /** Another pattern of addresses that belong to this page. */
  readonly also?: string
  readonly children: ComponentChildren
}) => {
  const [isHere] = useRoute(href)
  const [isBelow] = useRoute(also ?? href)
  return (
    <Link href={href} aria-current={isHere || isBelow ? "page" : undefined}>
      {children}
    </Link>
  )
}

/** Nobody should take made-up events for real ones. */
const DemoNote = () => {
  const { data } = useQuery(useTRPC().platforms.status.queryOptions(undefined, { staleTime: Number.POSITIVE_INFINITY }))
  if (!data?.platforms.some(({ demo_feed }) => demo_feed)) return null
  return (
    <Link href="/platforms" class="demo" title="This server makes up posts and pages, to try rules on">
      Demo data
    </Link>
  )
}

const ThemeButton = () => {
  const [theme, show] = useState(storedTheme)
  const change = () => {
    const next = nextTheme(theme)
    setTheme(next)
    show(next)
  }
  return (
    <button type="button" class="plain" onClick={change} title="Change between the system's theme, light and dark">
      {{ system: "Theme: system", light: "Theme: light", dark: "Theme: dark" }[theme]}
    </button>
  )
}
