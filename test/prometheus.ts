/** A strict parser of Prometheus' text format 0.0.4. It throws on any violation. */

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly help: string
  readonly type: "counter" | "gauge" | "histogram"
  readonly samples: ReadonlyArray<Sample>
}

/** Families by name. */
export const parseMetrics = (text: string): ReadonlyMap<string, Family> => {
  if (!text.endsWith("\n")) throw new Error("The last line has no line feed")
  const families = new Map<string, { help: string; type: Family["type"]; samples: Array<Sample> }>()
  let current: { name: string; help: string; type?: Family["type"] } | undefined
  for (const line of text.slice(0, -1).split("\n")) {
    const help = /^# HELP ([a-zA-Z_:][\w:]*) (\S.*)$/.exec(line)
    const type = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram)$/.exec(line)
    if (help !== null) {
      const [, name = "", text = ""] = help
      if (families.has(name)) throw new Error(`Duplicate family "${name}"`)
      current = { name, help: unescaped(text, /\\(\\|n)/g) }
    } else if (type !== null) {
      const [, name = "", kind = ""] = type
      if (current?.name !== name) throw new Error(`TYPE of "${name}" does not follow its HELP`)
      families.set(name, { help: current.help, type: kind as Family["type"], samples: [] })
    } else {
      const sample = parseSample(line)
      const family = families.get(current?.name ?? "")
      if (current === undefined || family === undefined) throw new Error(`No TYPE before: ${line}`)
      const names =
        family.type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => current?.name + end) : [current.name]
      if (!names.includes(sample.name)) throw new Error(`Does not belong to "${current.name}": ${line}`)
      family.samples.push(sample)
    }
  }
  for (const [name, family] of families) check(name, family)
  return families
}

/** The value of the sample with these labels, or 0. */
export const valueIn = (
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {}
): number => {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ""))
  const found = family?.samples.filter((sample) => sample.name === name && keyOf(sample.labels) === keyOf(labels)) ?? []
  if (found.length > 1) throw new Error(`"${name}" has ${found.length} samples with the same labels`)
  return found[0]?.value ?? 0
}

// ---- helpers ----

const keyOf = (labels: Readonly<Record<string, string>>): string =>
  JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))

const unescaped = (text: string, escapes: RegExp): string => {
  if (text.replace(escapes, "").includes("\\")) throw new Error(`Invalid escape: ${text}`)
  return text.replace(escapes, (_, letter: string) => (letter === "n" ? "\n" : letter))
}

const parseSample = (line: string): Sample => {
  const [, name = "", braces, number = ""] = samplePattern.exec(line) ?? []
  if (name === "") throw new Error(`Invalid sample: ${line}`)
  const labels: Record<string, string> = {}
  for (const [, key = "", value = ""] of (braces ?? "").matchAll(labelPattern)) {
    if (key in labels) throw new Error(`Duplicate label: ${line}`)
    labels[key] = unescaped(value, /\\(\\|n|")/g)
  }
  return { name, labels, value: number === "+Inf" ? Number.POSITIVE_INFINITY : Number(number) }
}

const labelPattern = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g
const samplePattern =
  /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\]|\\.)*",?)+(?<!,))\})? ([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?|\+Inf)$/

const check = (name: string, { type, samples }: Family) => {
  if (samples.length === 0) throw new Error(`"${name}" has no samples`)
  if (new Set(samples.map((one) => one.name + keyOf(one.labels))).size < samples.length)
    throw new Error(`"${name}" repeats a sample`)
  if ((type === "counter") !== name.endsWith("_total")) throw new Error(`"${name}" is a ${type}`)
  if (type !== "gauge" && samples.some(({ value }) => value < 0)) throw new Error(`"${name}" is below 0`)
  for (const one of samples) {
    if (Object.values(one.labels).some((value) => value === "" || value === "NaN" || value === "undefined"))
      throw new Error(`Empty label of "${name}": ${JSON.stringify(one.labels)}`)
  }
  if (type === "histogram") checkHistogram(name, samples)
}

const checkHistogram = (name: string, samples: ReadonlyArray<Sample>) => {
  const series = new Map<string, { buckets: Array<readonly [number, number]>; sum?: number; count?: number }>()
  for (const { name: part, labels, value } of samples) {
    const { le, ...others } = labels
    const one = series.get(keyOf(others)) ?? { buckets: [] }
    series.set(keyOf(others), one)
    if (part === `${name}_bucket`) one.buckets.push([le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le), value])
    else if (part === `${name}_sum`) one.sum = value
    else one.count = value
  }
  for (const { buckets, sum, count } of series.values()) {
    const isRising = buckets.every(([le, value], index) => {
      const [before, less] = buckets[index - 1] ?? [Number.NEGATIVE_INFINITY, 0]
      return le > before && value >= less
    })
    if (!isRising) throw new Error(`Buckets of "${name}" do not rise`)
    if (buckets.at(-1)?.[0] !== Number.POSITIVE_INFINITY || buckets.at(-1)?.[1] !== count || sum === undefined)
      throw new Error(`"${name}" is not complete`)
  }
}
