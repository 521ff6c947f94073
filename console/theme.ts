/** Light or dark: as the system has it, or as the reader chose. */

export type Theme = "system" | "light" | "dark"

const NAME = "earshot.theme"

export const storedTheme = (): Theme => {
  const stored = localStorage.getItem(NAME)
  return stored === "light" || stored === "dark" ? stored : "system"
}

export const setTheme = (theme: Theme): void => {
  localStorage.setItem(NAME, theme)
  applyTheme()
}

export const applyTheme = (): void => {
  document.documentElement.dataset["theme"] = storedTheme()
}

export const nextTheme = (theme: Theme): Theme => ({ system: "light", light: "dark", dark: "system" })[theme] as Theme
