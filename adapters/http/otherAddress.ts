/** Tells the platform's own service from another one that a base URL points to, such as a simulator. */

/**
 * The capability `address`: the origin of a base URL that is not one of the platform's own. The origin has no
 * credentials, path or query. None for a text that is not a URL: requests to it say what is wrong.
 */
export const otherAddress = (baseUrl: string, ownOrigins: ReadonlyArray<string>): { readonly address?: string } => {
  if (!URL.canParse(baseUrl)) return {}
  const { origin } = new URL(baseUrl)
  return ownOrigins.includes(origin) ? {} : { address: origin }
}
