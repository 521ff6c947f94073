/** Parses the values of operators: numbers, ranges, circles and boxes. */
import { limits } from "./operators.ts"

/** Lower case and single spaces: X ignores case and extra white space. */
export const folded = (value: string): string => value.toLowerCase().trim().replace(/\s+/g, " ")

/** Includes both ends. */
export interface Range {
  readonly min: number
  readonly max: number | undefined
}

/** `n` (n or more) or `min..max`, in plain digits. */
export const rangeOf = (value: string): Range | undefined => {
  const dots = value.indexOf("..")
  const min = digits(dots < 0 ? value : value.slice(0, dots))
  const max = dots < 0 ? undefined : digits(value.slice(dots + 2))
  return min === undefined || (dots >= 0 && max === undefined) ? undefined : { min, max }
}

/** The valid form of `1,000`, `5k`, `>100`, `10-20`, `10...20`, `..20` or `10..`. */
export const intendedRange = (value: string): string | undefined => {
  const text = value.toLowerCase().replaceAll(",", "").replaceAll("_", "")
  const single = /^(>=|>|=|≥)?(\d{1,9})(k|m)?\+?$/.exec(text)
  if (single !== null) {
    const [, sign, number, unit] = single
    return String(Number(number) * scale(unit) + (sign === ">" ? 1 : 0))
  }
  const range = /^(\d{0,9})(k|m)?(?:\.{2,}|-|–|to)(\d{0,9})(k|m)?$/.exec(text)
  if (range === null) {
    return undefined
  }
  const [, low = "", lowUnit, high = "", highUnit] = range
  if (low === "" && high === "") {
    return undefined
  }
  const min = String(Number(low) * scale(lowUnit))
  return high === "" ? min : `${min}..${Number(high) * scale(highUnit)}`
}

export interface Circle {
  readonly longitude: number
  readonly latitude: number
  readonly kilometres: number
}

export interface Rectangle {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/** `undefined` unless the parts are two numbers and a length. Does not check their ranges. */
export const circleOf = (value: string): Circle | undefined => {
  const [longitude, latitude, radius, ...more] = parts(value)
  const kilometres = kilometresOf(radius ?? "")
  const x = coordinate(longitude)
  const y = coordinate(latitude)
  if (x === undefined || y === undefined || kilometres === undefined || more.length > 0) {
    return undefined
  }
  return { longitude: x, latitude: y, kilometres }
}

/** `undefined` unless the parts are four numbers. Does not check their ranges. */
export const rectangleOf = (value: string): Rectangle | undefined => {
  const numbers = parts(value).map(coordinate)
  const [west, south, east, north] = numbers
  if (west === undefined || south === undefined || east === undefined || north === undefined || numbers.length > 4) {
    return undefined
  }
  return { west, south, east, north }
}

export const parts = (value: string): ReadonlyArray<string> => value.split(/\s+/).filter((part) => part !== "")

/** A length such as `16km` or `2.5mi`, in kilometres. */
export const kilometresOf = (text: string): number | undefined => {
  const found = /^(\d{1,6}(?:\.\d{1,12})?|\.\d{1,12})(km|mi)$/i.exec(text)
  if (found === null) {
    return undefined
  }
  return Number(found[1]) * (found[2]?.toLowerCase() === "mi" ? limits.kilometresPerMile : 1)
}

/** Height, and width at the side nearest to a pole, in kilometres. */
export const sidesOf = ({ west, south, east, north }: Rectangle) => {
  const latitude = Math.max(Math.abs(south), Math.abs(north))
  return {
    height: (north - south) * KILOMETRES_PER_DEGREE,
    width: (east - west) * KILOMETRES_PER_DEGREE * Math.cos((latitude * Math.PI) / 180)
  }
}

// ---- helpers ----

/** Along a meridian, for a sphere with the Earth's mean radius. */
const KILOMETRES_PER_DEGREE = 111.195

function digits(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

function scale(unit: string | undefined): number {
  return unit === "k" ? 1000 : unit === "m" ? 1_000_000 : 1
}

function coordinate(text: string | undefined): number | undefined {
  return text !== undefined && /^[+-]?(\d{1,3}(\.\d{0,20})?|\.\d{1,20})$/.test(text) ? Number(text) : undefined
}
