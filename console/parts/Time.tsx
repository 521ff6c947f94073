/** A time in the reader's zone, with UTC on hover. */

export const Time = ({ at, form = "near" }: { readonly at: string; readonly form?: "near" | "full" }) => (
  <time dateTime={at} title={`${at.replace("T", " ").replace(/\.\d+Z$/, "")} UTC`}>
    {form === "near" ? near(new Date(at)) : full.format(new Date(at))}
  </time>
)

// ---- helpers ----

const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" })
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" })

/** Of today, only the time of day. */
const near = (date: Date): string =>
  date.toDateString() === new Date().toDateString() ? clock.format(date) : day.format(date)
