/** Decides which filters to pause so that the rest of the month fits into the budget. */

/** The share of the budget from which on there is a warning, and filters are paused. */
export const WARN_SHARE = 0.8

/** The share from which on the last hour counts, too: a burst is not averaged over a day. */
export const BURST_SHARE = 0.95

export interface Outlook {
  readonly budget: number
  readonly used: number
  /** Until the end of the month. */
  readonly hoursLeft: number
  /** Posts per hour of all filters together. A post that several filters match counts once. */
  readonly perHour: number
  /** Per filter that the platform holds or should hold. */
  readonly texts: ReadonlyArray<{ readonly text: string; readonly perHour: number }>
}

/** The filters with the most posts, as few as necessary. All of them if the budget is used up. */
export const textsToPause = ({ budget, used, hoursLeft, perHour, texts }: Outlook): ReadonlyArray<string> => {
  if (used >= budget) return texts.map(({ text }) => text)
  if (used < budget * WARN_SHARE) return []
  const noisiest = texts.filter((one) => one.perHour > 0).toSorted((a, b) => b.perHour - a.perHour)
  const fits = (rate: number) => used + rate * hoursLeft <= budget
  const paused: Array<string> = []
  // An upper bound, because filters can match the same posts.
  let rest = noisiest.reduce((sum, one) => sum + one.perHour, 0)
  for (const one of noisiest) {
    if (fits(Math.min(rest, perHour))) break
    paused.push(one.text)
    rest -= one.perHour
  }
  return paused
}
