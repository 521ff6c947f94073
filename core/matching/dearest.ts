/** Decides which filters of an account to pause so that the others cost no more than allowed. */

/** The dearest, as few as necessary. `costs` and `allowed` have the same unit. */
export const dearest = (costs: ReadonlyMap<string, number>, allowed: number): ReadonlyArray<string> => {
  let rest = 0
  for (const cost of costs.values()) rest += cost
  const chosen: Array<string> = []
  for (const [text, cost] of [...costs].toSorted(([, one], [, other]) => other - one)) {
    if (rest <= allowed) break
    chosen.push(text)
    rest -= cost
  }
  return chosen
}
