/** Seeded random numbers, and the skewed distributions of live streams. */
import { randomFrom } from "../../random.ts"

export class Random {
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly next: () => number

  constructor(seed: number) {
    this.next = randomFrom(seed)
  }

  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  between(first: number, last: number): number {
    return first + this.below(last - first + 1)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<A>(list: ReadonlyArray<A>): A {
    const found = list[this.below(list.length)]
    if (found === undefined) throw new Error("Cannot pick from an empty list")
    return found
  }

  /** Log-uniform: as likely between 100 and 1,000 as between 1,000 and 10,000. */
  magnitude(first: number, end: number): number {
    return Math.floor(first * (end / first) ** this.next())
  }

  /** At least 1. A few values are many times the mean. */
  logNormal(mean: number, sigma: number): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next())
    return Math.max(1, Math.round(mean * Math.exp(sigma * normal - (sigma * sigma) / 2)))
  }
}

/** Zipf-Mandelbrot distribution: rank `r`, from 0, has weight 1 / (r + 1 + q) ^ s. */
export class Zipf {
  private readonly sums: Float64Array

  constructor(size: number, s: number, q: number) {
    this.sums = new Float64Array(size)
    let sum = 0
    for (let rank = 0; rank < size; rank++) {
      sum += (rank + 1 + q) ** -s
      this.sums[rank] = sum
    }
  }

  draw(random: Random): number {
    const sums = this.sums
    const wanted = random.next() * (sums.at(-1) ?? 0)
    let low = 0
    let high = sums.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sums[middle] ?? 0) <= wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}
