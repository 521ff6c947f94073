/** Checks the brackets of `point_radius:` and `bounding_box:`, where the order of the numbers is the usual mistake. */
import type { OperatorNode } from "./ast.ts"
import { limits } from "./operators.ts"
import type { Edit, Report } from "./report.ts"
import { circleOf, kilometresOf, parts, rectangleOf, sidesOf } from "./values.ts"

// radius := "[" longitude latitude length "]"
export const checkRadius = (node: OperatorNode, report: Report): void => {
  const { start, end } = node.valueSpan
  const expected = ["[longitude latitude radius]"]
  if (commas(node, report)) {
    return
  }
  const circle = circleOf(node.value)
  if (circle === undefined) {
    radiusForm(node, report)
    return
  }
  const { longitude, latitude, kilometres } = circle
  if (!inRange(longitude, latitude)) {
    const [first = "", second = "", radius = ""] = parts(node.value)
    const swapped = inRange(latitude, longitude)
    const hint = swapped ? ": longitude comes first" : ""
    report.error("coordinate-range", start, end, `Longitude is -180 to 180 and latitude -90 to 90${hint}`, {
      expected,
      ...(swapped && mend("Swap longitude and latitude", whole(node, `${second} ${first} ${radius}`)))
    })
  }
  if (kilometres <= 0 || kilometres >= largest) {
    const message = `A radius is more than 0 and less than ${limits.geoMiles}mi (${largest.toFixed(2)}km)`
    report.error("area-size", start, end, message, { expected: [`under ${limits.geoMiles}mi`] })
  }
}

// box := "[" west south east north "]"
export const checkBox = (node: OperatorNode, report: Report): void => {
  const { start, end } = node.valueSpan
  const expected = ["[west south east north]"]
  if (commas(node, report)) {
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
    report.error("coordinate-range", start, end, `Longitude is -180 to 180 and latitude -90 to 90${hint}`, {
      expected,
      ...(swapped && mend("Swap longitudes and latitudes", whole(node, `${south} ${west} ${north} ${east}`)))
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
      ...mend("Order the corners", whole(node, ordered.join(" ")))
    })
    return
  }
  const { width, height } = sidesOf(box)
  if (width >= largest || height >= largest) {
    const found = `${width.toFixed(1)}km wide and ${height.toFixed(1)}km high`
    const message = `The sides of a box are under ${limits.geoMiles}mi (${largest.toFixed(2)}km): this one is ${found}`
    report.error("area-size", start, end, message, { expected: [`sides under ${limits.geoMiles}mi`] })
  }
}

// ---- helpers ----

const largest = limits.geoMiles * limits.kilometresPerMile

/** Where a comma stands is where X stops reading: at the number that holds it, after its sign. */
function commas(node: OperatorNode, report: Report): boolean {
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
    ...mend("Use spaces", whole(node, node.value.replace(/\s*,\s*/g, " ").trim()))
  })
  return true
}

function radiusForm(node: OperatorNode, report: Report): void {
  const { start, end } = node.valueSpan
  const [longitude = "", latitude = "", radius = "", unit = "", ...more] = parts(node.value)
  const spaced = more.length === 0 && kilometresOf(radius + unit) !== undefined && unit !== ""
  const unitless = unit === "" && /^\d+(\.\d+)?$/.test(radius)
  const message = unitless
    ? "The radius needs a unit: km or mi"
    : "A circle is longitude, latitude and radius, separated by spaces, the radius in km or mi"
  report.error("radius-form", start, end, message, {
    expected: unitless ? [`${radius}km`, `${radius}mi`] : ["[longitude latitude radius]"],
    ...(spaced && mend("Join the radius and its unit", whole(node, `${longitude} ${latitude} ${radius}${unit}`)))
  })
}

function inRange(longitude: number, latitude: number): boolean {
  return Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90
}

function whole(node: OperatorNode, text: string): Edit {
  return { start: node.valueSpan.start, end: node.valueSpan.end, text }
}

function mend(message: string, edit: Edit) {
  return { mend: { message, edits: [edit] } }
}
