/** Finds the positions of a layout that read a character. */
import { type Layout, setBit } from "./layout.ts"
import { addTo } from "./lists.ts"

export class Readers {
  private readonly layout: Layout
  /** Positions in the order of their labels: those of a label are from `startOf[label]` up to `startOf[label + 1]`. */
  private readonly positions: Int32Array
  private readonly startOf: Int32Array
  /** Labels with a range of this character alone: most have no other range. */
  private readonly byCharacter = new Map<number, Array<number>>()
  /** Labels with a longer range. */
  private readonly others: Array<number> = []

  constructor(layout: Layout) {
    const { labels, labelOf } = layout
    this.layout = layout
    this.startOf = new Int32Array(labels.length + 1)
    for (const label of labelOf) this.startOf[label + 1] = (this.startOf[label + 1] ?? 0) + 1
    for (let label = 0; label < labels.length; label++) {
      this.startOf[label + 1] = (this.startOf[label + 1] ?? 0) + (this.startOf[label] ?? 0)
    }
    this.positions = new Int32Array(labelOf.length)
    const next = this.startOf.slice()
    labelOf.forEach((label, position) => {
      const at = next[label] ?? 0
      this.positions[at] = position
      next[label] = at + 1
    })
    labels.forEach((ranges, label) => {
      for (const { from, to } of ranges) {
        if (from === to) addTo(this.byCharacter, from, label)
      }
      if (ranges.some(({ from, to }) => from < to)) this.others.push(label)
    })
  }

  /** Sets the bits of the positions that read the character. */
  add(character: number, bits: Int32Array): void {
    const { labels } = this.layout
    for (const label of this.byCharacter.get(character) ?? []) this.addLabel(label, bits)
    for (const label of this.others) {
      if (labels[label]?.some(({ from, to }) => from <= character && character <= to)) this.addLabel(label, bits)
    }
  }

  private addLabel(label: number, bits: Int32Array): void {
    const end = this.startOf[label + 1] ?? 0
    for (let at = this.startOf[label] ?? 0; at < end; at++) setBit(bits, this.positions[at] ?? 0)
  }
}
