/** A seeded random number generator. */
import type { Array as Arr } from "effect"

type NonEmpty<A> = Arr.NonEmptyReadonlyArray<A>

export interface Random {
  /** An integer from 0 to `limit` - 1. */
  readonly below: (limit: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(items: NonEmpty<A>) => A
  /** Deals all items in random order before it repeats one, so every item appears soon. */
  readonly deck: <A>(items: NonEmpty<A>) => () => A
}

export const seeded = (seed: number): Random => {
  let state = seed >>> 0
  // Mulberry32: small, not cryptographic.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  const pick = <A>(items: NonEmpty<A>): A => items[below(items.length)] ?? items[0]
  const deck = <A>(items: NonEmpty<A>) => {
    let left: Array<A> = []
    return () => {
      if (left.length === 0) left = [...items]
      const [card = items[0]] = left.splice(below(left.length), 1)
      return card
    }
  }
  return { below, chance: (probability) => next() < probability, pick, deck }
}
