/** The key of the signed-in reader: kept for the tab, or in the browser if asked for. It never becomes part of an address. */

const NAME = "earshot.key"

/** Takes the key out of the address (`#key=...`), so that it is neither bookmarked nor shown. */
export const takeKeyFromAddress = (): string | undefined => {
  const key = new URLSearchParams(location.hash.slice(1)).get("key") ?? undefined
  if (key !== undefined) history.replaceState(null, "", location.pathname + location.search)
  return key
}

export const storedKey = (): string | undefined =>
  sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME) ?? undefined

export const storeKey = (key: string, isRemembered: boolean): void => {
  forgetKey()
  const storage = isRemembered ? localStorage : sessionStorage
  storage.setItem(NAME, key)
}

export const forgetKey = (): void => {
  sessionStorage.removeItem(NAME)
  localStorage.removeItem(NAME)
}
