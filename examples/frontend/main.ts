/** The page: connects, creates rules and shows live matches. */
import { TRPCClientError } from "@trpc/client"
import { type Client, connect } from "./client.ts"

const element = <A extends HTMLElement>(id: string): A => {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`The page has no element "${id}"`)
  // index.html defines the type of each element.
  return found as A
}

const state = element("state")
const matches = element<HTMLOListElement>("matches")

let client: Client | undefined
let watching: { readonly unsubscribe: () => void } | undefined

const onSubmit = (id: string, act: (field: (name: string) => string) => Promise<void>) =>
  element<HTMLFormElement>(id).addEventListener("submit", (event) => {
    event.preventDefault()
    const data = new FormData(element<HTMLFormElement>(id))
    act((name) => String(data.get(name) ?? "")).catch((error: unknown) => {
      state.textContent = error instanceof TRPCClientError ? error.message : String(error)
    })
  })

onSubmit("connect", async (field) => {
  const connected = connect("/trpc", field("key"))
  const { rules } = await connected.rules.list.query()
  client = connected
  watching?.unsubscribe()
  watching = connected.matches.watch.subscribe(undefined, {
    onStarted: () => {
      state.textContent = `Connected. ${rules.length} ${rules.length === 1 ? "rule" : "rules"}`
    },
    // After a lost connection the client resumes after the last match it received.
    onData: ({ data }) => show(data),
    onError: ({ message }) => {
      state.textContent = message
    }
  })
})

onSubmit("create", async (field) => {
  if (client === undefined) throw new Error("Connect first")
  const filter = field("filter")
  const { rule_id } = await client.rules.create.mutate({
    name: filter,
    intent: "Seen on the example page",
    platforms: ["x"],
    overrides: { x: filter }
  })
  state.textContent = `Created ${rule_id}`
})

/** Shows the payload as text, never as markup: it is untrusted. */
const show = ({ created_at, platform, payload }: { created_at: string; platform: string; payload: object }) => {
  const item = document.createElement("li")
  const heading = document.createElement("small")
  heading.textContent = `${created_at} on ${platform}`
  const text = document.createElement("div")
  text.textContent = textOf(payload)
  item.append(heading, text)
  matches.prepend(item)
  while (matches.childElementCount > 100) matches.lastElementChild?.remove()
}

const textOf = (payload: { data?: { text?: string }; document?: { title?: string } }): string =>
  payload.data?.text ?? payload.document?.title ?? JSON.stringify(payload)
