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

/** First the one that the system does not show, so that the first click changes something. */
export const nextTheme = (theme: Theme): Theme => {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches
  if (theme === "system") return isDark ? "light" : "dark"
  return theme === (isDark ? "dark" : "light") ? "system" : isDark ? "dark" : "light"
}
