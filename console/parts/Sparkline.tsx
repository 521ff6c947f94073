/** A number over time as a small line, with its text alternative. */

export const Sparkline = ({
  counts,
  label
}: {
  /** Oldest first. */
  readonly counts: ReadonlyArray<number>
  /** What is counted, with its figures: "120 matches in the last 24 hours". */
  readonly label: string
}) => (
  <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
    <title>{label}</title>
    <polyline points={pointsOf(counts)} />
  </svg>
)

// ---- helpers ----

const WIDTH = 100
const HEIGHT = 24

const pointsOf = (counts: ReadonlyArray<number>): string => {
  const highest = Math.max(1, ...counts)
  const step = WIDTH / Math.max(1, counts.length - 1)
  // One unit of margin, so that the line is not cut off.
  return counts.map((count, i) => `${i * step},${HEIGHT - 1 - (count / highest) * (HEIGHT - 2)}`).join(" ")
}
