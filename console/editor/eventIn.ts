/** Reads what was pasted: an event as JSON, or only its text. */

export const eventIn = (
  pasted: string,
  eventOf: (text: string) => unknown
): { readonly event: unknown } | { readonly problem: string } => {
  const text = pasted.trim()
  if (!isJson(text)) return { event: eventOf(text) }
  try {
    return { event: JSON.parse(text) }
  } catch (error) {
    return { problem: `The event is not valid JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
}

/** Otherwise it is only the text of an event. */
export const isJson = (pasted: string): boolean => /^\s*[{[]/.test(pasted)
