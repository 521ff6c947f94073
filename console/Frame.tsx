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
        Skip to content
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
          <ServerNotes />
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

/** Nobody should take made-up events for real ones, or a drill for the real server. */
const ServerNotes = () => {
  const { data } = useQuery(useTRPC().platforms.status.queryOptions(undefined, { staleTime: Number.POSITIVE_INFINITY }))
  const notes = [
    data?.platforms.some(({ demo_feed }) => demo_feed) && {
      text: "Demo data",
      title: "This server generates sample posts and pages, so that you can try out rules"
    },
    data?.drill?.upstream === "off" && {
      text: "Upstream off",
      title: "Drill: this server registers no rules on the real platforms and opens no streams"
    },
    data?.drill?.webhooks === "off" && {
      text: "Webhooks off",
      title: "Drill: this server sends nothing to webhooks; messages stay queued"
    }
  ].filter((note) => typeof note === "object")
  return notes.map(({ text, title }) => (
    <Link key={text} href="/platforms" class="demo" title={title}>
      {text}
    </Link>
  ))
}

const ThemeButton = () => {
  const [theme, show] = useState(storedTheme)
  const change = () => {
    const next = nextTheme(theme)
    setTheme(next)
    show(next)
  }
  return (
    <button type="button" class="plain" onClick={change} title="Switch between the system theme, light and dark">
      {{ system: "Theme: system", light: "Theme: light", dark: "Theme: dark" }[theme]}
    </button>
  )
}
