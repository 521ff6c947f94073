/** A limit in words. */
import type { Answers } from "../client.ts"

type Limit = Answers["account"]["get"]["limits"][number]

/** Such as `3.5 MiB of 10 GiB`. */
export const describeLimit = ({ name, limit, used, resets_in_seconds }: Omit<Limit, "description">): string => {
  const format = name === "bytes" ? formatBytes : (amount: number) => numbers.format(amount)
  const again = resets_in_seconds === undefined || used === 0 ? "" : "; resets within a minute"
  return limit === null ? `${format(used)}, no limit` : `${format(used)} of ${format(limit)}${again}`
}

// ---- helpers ----

const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })

const MEBIBYTE = 1_048_576
const GIBIBYTE = 1_024 * MEBIBYTE

const formatBytes = (amount: number): string =>
  amount >= GIBIBYTE ? `${numbers.format(amount / GIBIBYTE)} GiB` : `${numbers.format(amount / MEBIBYTE)} MiB`
