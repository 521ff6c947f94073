/** The script of the page `/docs`: theme, search, copies, and fields that open in place. */
import { Html } from "./html.ts"

export const SCRIPT: Html = new Html(`
const root = document.documentElement
const THEME = "earshot.theme" // The console has the same.
const systemTheme = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")
try {
  root.dataset.theme = localStorage.getItem(THEME) ?? ""
} catch {
  // The browser keeps nothing for this page.
}

addEventListener("DOMContentLoaded", () => {
  const all = (selector) => [...document.querySelectorAll(selector)]
  const byId = (id) => document.getElementById(id)
  for (const place of all("[data-origin]")) place.textContent = location.origin

  byId("theme").addEventListener("click", () => {
    const shown = root.dataset.theme === "dark" || root.dataset.theme === "light" ? root.dataset.theme : systemTheme()
    root.dataset.theme = shown === "dark" ? "light" : "dark"
    localStorage.setItem(THEME, root.dataset.theme === systemTheme() ? "system" : root.dataset.theme)
  })

  // Fields of a schema, and errors, are on the page once.
  document.addEventListener("toggle", ({ target }) => {
    const source = byId(target.dataset?.of ?? "")
    if (source === null || !target.open) return
    delete target.dataset.of
    target.lastElementChild.replaceWith(...source.cloneNode(true).children)
  }, true)

  document.addEventListener("click", ({ target }) => {
    if (target.matches(".copy")) copy(target)
    if (target.closest("aside a") && byId("menu").matches(":popover-open")) byId("menu").hidePopover()
  })
  const copy = async (button) => {
    const code = button.closest("figure").querySelector("code")
    try {
      await navigator.clipboard.writeText(code.textContent)
      button.textContent = "Copied"
    } catch {
      // Not every browser copies without TLS.
      getSelection().selectAllChildren(code)
      button.textContent = "Selected"
    }
    setTimeout(() => { button.textContent = "Copy" }, 2_000)
  }

  const search = byId("search")
  const links = all("nav li a")
  const targetOf = (link) => link.getAttribute("href").slice(1)
  let texts
  search.addEventListener("input", () => {
    texts ??= links.map((link) => {
      const part = byId(targetOf(link))
      const head = [link.textContent, targetOf(link), part.querySelector(".at")?.textContent].join(" ")
      return [head, part.textContent].map((text) => text.toLowerCase())
    })
    const words = search.value.toLowerCase().split(/\\s+/)
    const findIn = (index) => texts.map((text) => words.every((word) => text[index].includes(word)))
    // The descriptions and fields only if no name fits.
    const [named, other] = [findIn(0), findIn(1)]
    const found = named.includes(true) ? named : other
    links.forEach((link, index) => { link.parentElement.hidden = !found[index] })
    for (const group of all("nav > div")) group.hidden = group.querySelector("li:not([hidden])") === null
    const count = found.filter(Boolean).length
    byId("found").textContent = search.value === "" ? "" : count === 0 ? "Nothing found" : count + " found"
  })
  search.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") document.querySelector("nav li:not([hidden]) a")?.click()
  })
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input") || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    search.focus()
  })

  const byTarget = new Map(links.map((link) => [targetOf(link), link]))
  const watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const link = byTarget.get(target.id)
      if (!isIntersecting) link.removeAttribute("aria-current")
      else {
        link.setAttribute("aria-current", "true")
        link.scrollIntoView({ block: "nearest" })
      }
    }
  }, { rootMargin: "-120px 0px -100%" })
  for (const id of byTarget.keys()) watcher.observe(byId(id))
})
`)
