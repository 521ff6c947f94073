/** Checks the values of `point_radius:` and `bounding_box:`. The most common mistake is the order of the numbers. */

import type { Fix } from "../issues/issue.ts"
import type { Report } from "../issues/Report.ts"
import type { OperatorNode } from "./ast.ts"
import { limits } from "./operators.ts"
import { circleOf, kilometresOf, parts, rectangleOf, sidesOf } from "./values.ts"

// radius := "[" longitude latitude length "]"
export const checkRadius = (report: Report, node: OperatorNode): void => {
  const { start, end } = node.valueSpan
  if (hasCommas(report, node)) {
    return
  }
  const circle = circleOf(node.value)
  if (circle === undefined) {
    radiusForm(report, node)
    return
  }
  const { longitude, latitude, kilometres } = circle
  if (!inRange(longitude, latitude)) {
    const [first = "", second = "", radius = ""] = parts(node.value)
    const swapped = inRange(latitude, longitude)
    const hint = swapped ? ": longitude comes first" : ""
    report.error("coordinate-range", start, end, `Longitude is -180 to 180 and latitude -90 to 90${hint}`, {
      expected: ["[longitude latitude radius]"],
      fix: swapped ? rewrite(report, node, "Swap longitude and latitude", `${second} ${first} ${radius}`) : undefined
    })
  }
  if (kilometres <= 0 || kilometres >= MAX_KILOMETRES) {
    const message = `A radius is more than 0 and less than ${limits.geoMiles}mi (${MAX_KILOMETRES.toFixed(2)}km)`
    report.error("area-size", start, end, message, { expected: [`under ${limits.geoMiles}mi`] })
  }
}

// box := "[" west south east north "]"
export const checkBox = (report: Report, node: OperatorNode): void => {
  const { start, end } = node.valueSpan
  const expected = ["[west south east north]"]
  if (hasCommas(report, node)) {
    return
  }
  const box = rectangleOf(node.value)
  if (box === undefined) {
    const message = "A box is four numbers separated by spaces: west, south, east and north in degrees"
    report.error("box-form", start, end, message, { expected })
    return
  }
  const [west = "", south = "", east = "", north = ""] = parts(node.value)
  if (!inRange(box.west, box.south) || !inRange(box.east, box.north)) {
    const swapped = inRange(box.south, box.west) && inRange(box.north, box.east)
    const hint = swapped ? ": longitude comes first" : ""
    const text = `${south} ${west} ${north} ${east}`
    report.error("coordinate-range", start, end, `Longitude is -180 to 180 and latitude -90 to 90${hint}`, {
      expected,
      fix: swapped ? rewrite(report, node, "Swap longitudes and latitudes", text) : undefined
    })
    return
  }
  if (box.west >= box.east || box.south >= box.north) {
    const ordered = [
      box.west <= box.east ? west : east,
      box.south <= box.north ? south : north,
      box.west <= box.east ? east : west,
      box.south <= box.north ? north : south
    ]
    report.error("box-order", start, end, "A box runs from its south-west corner to its north-east corner", {
      expected,
      fix: rewrite(report, node, "Order the corners", ordered.join(" "))
    })
    return
  }
  const { width, height } = sidesOf(box)
  if (width >= MAX_KILOMETRES || height >= MAX_KILOMETRES) {
    const limit = `${limits.geoMiles}mi (${MAX_KILOMETRES.toFixed(2)}km)`
    const found = `${width.toFixed(1)}km wide and ${height.toFixed(1)}km high`
    report.error("area-size", start, end, `The sides of a box are under ${limit}: this one is ${found}`, {
      expected: [`sides under ${limits.geoMiles}mi`]
    })
  }
}

// ---- helpers ----

const MAX_KILOMETRES = limits.geoMiles * limits.kilometresPerMile

/** Like X, reports the start of the number before the first comma, after its sign. */
function hasCommas(report: Report, node: OperatorNode): boolean {
  const comma = node.value.indexOf(",")
  if (comma < 0) {
    return false
  }
  const { start, end } = node.valueSpan
  let first = comma
  while (first > 0 && !/[\s+-]/.test(node.value.charAt(first - 1))) {
    first--
  }
  const from = Math.min(start + first, end)
  report.error("geo-commas", from, end, "The numbers are separated by spaces, not commas", {
    expected: ["a space"],
    fix: rewrite(report, node, "Use spaces", node.value.replace(/\s*,\s*/g, " ").trim())
  })
  return true
}

function radiusForm(report: Report, node: OperatorNode): void {
  const { start, end } = node.valueSpan
  const [longitude = "", latitude = "", radius = "", unit = "", ...more] = parts(node.value)
  const spaced = more.length === 0 && kilometresOf(radius + unit) !== undefined && unit !== ""
  const unitless = unit === "" && /^\d+(\.\d+)?$/.test(radius)
  const message = unitless
    ? "The radius needs a unit: km or mi"
    : "A circle is longitude, latitude and radius, separated by spaces, the radius in km or mi"
  const joined = `${longitude} ${latitude} ${radius}${unit}`
  report.error("radius-form", start, end, message, {
    expected: unitless ? [`${radius}km`, `${radius}mi`] : ["[longitude latitude radius]"],
    fix: spaced ? rewrite(report, node, "Join the radius and its unit", joined) : undefined
  })
}

function inRange(longitude: number, latitude: number): boolean {
  return Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90
}

function rewrite(report: Report, { valueSpan }: OperatorNode, message: string, text: string): Fix {
  return report.fix(message, valueSpan.start, valueSpan.end, text)
}
