/** How long the header Retry-After asks to wait: a number of seconds, or a date. */

/** In milliseconds, negative for a date in the past. Undefined for no header, or one that cannot be read. */
export const retryAfterMillis = (header: string | null | undefined, now: number): number | undefined => {
  const text = header ?? ""
  const millis = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now
  return Number.isNaN(millis) ? undefined : millis
}
