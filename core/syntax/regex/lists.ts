/** Lists of numbers, by a number. */

/** Thousands of short ones, without an array for each. */
export class Lists {
  readonly count: number
  /** By list: its newest entry, or -1. */
  private readonly newest: Int32Array
  /** By entry: its value, and the entry before it in its list, or -1. */
  private readonly values: Array<number> = []
  private readonly before: Array<number> = []

  constructor(count: number) {
    this.count = count
    this.newest = new Int32Array(count).fill(-1)
  }

  add(list: number, value: number): void {
    this.before.push(this.newest[list] ?? -1)
    this.newest[list] = this.values.push(value) - 1
  }

  /** Whether the list has this value and no other. */
  isOnly(list: number, value: number): boolean {
    const newest = this.newest[list] ?? -1
    return newest >= 0 && this.values[newest] === value && this.before[newest] === -1
  }

  /** The newest first. */
  forEach(list: number, use: (value: number) => void): void {
    for (let entry = this.newest[list] ?? -1; entry >= 0; entry = this.before[entry] ?? -1) {
      use(this.values[entry] ?? 0)
    }
  }
}

export const addTo = (lists: Map<number, Array<number>>, key: number, value: number): void => {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
