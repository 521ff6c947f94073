/** Chance that can be had again: the same seed deals the same cards. */
import type { Array as Arr } from "effect"

type NonEmpty<A> = Arr.NonEmptyReadonlyArray<A>

export interface Random {
  /** A whole number from 0 up to, not including, the limit. */
  readonly below: (limit: number) => number
  /** True as often as the share says, from 0 to 1. */
  readonly chance: (share: number) => boolean
  readonly pick: <A>(items: NonEmpty<A>) => A
  /** Deals every item once, in any order, before one comes again: nothing is long in coming. */
  readonly deck: <A>(items: NonEmpty<A>) => () => A
}

export const seeded = (seed: number): Random => {
  let state = seed >>> 0
  // Mulberry32: small, and good enough for what nobody has to guess.
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
  return { below, chance: (share) => next() < share, pick, deck }
}
