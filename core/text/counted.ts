/** A number with its noun: `1 rule`, `2 rules`, `3 matches`. */
export const counted = (amount: number, one: string, many = `${one}s`, format: (amount: number) => string = String) =>
  `${format(amount)} ${amount === 1 ? one : many}`
