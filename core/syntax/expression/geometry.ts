/** Whether an area on the Earth lies wholly inside a circle or a box. */
import type { Area } from "./eventFields.ts"

export interface Circle {
  readonly longitude: number
  readonly latitude: number
  readonly kilometres: number
}

/** The corners decide: along a side, the distance to a point within the same half of the globe is greatest at one end. */
export const areaInCircle = ({ west, south, east, north }: Area, circle: Circle): boolean =>
  [west, east].every((longitude) =>
    [south, north].every((latitude) => kilometresBetween(longitude, latitude, circle) <= circle.kilometres)
  )

export const areaInBox = (area: Area, box: Area): boolean => {
  if (area.south < box.south || area.north > box.north) {
    return false
  }
  if (area.west <= area.east && box.west <= box.east) {
    return area.west >= box.west && area.east <= box.east
  }
  const width = eastward(box.west, box.east)
  const from = eastward(box.west, area.west)
  return from <= width && from + eastward(area.west, area.east) <= width
}

// ---- helpers ----

/** Mean radius of the Earth. */
const earthKilometres = 6371.0088

const radians = (degrees: number): number => (degrees * Math.PI) / 180

/** By the haversine formula. */
const kilometresBetween = (longitude: number, latitude: number, circle: Circle): number => {
  const north = Math.sin(radians(latitude - circle.latitude) / 2)
  const east = Math.sin(radians(longitude - circle.longitude) / 2)
  const half = north * north + Math.cos(radians(latitude)) * Math.cos(radians(circle.latitude)) * east * east
  return 2 * earthKilometres * Math.asin(Math.min(1, Math.sqrt(half)))
}

/** Degrees from one meridian east to another. */
const eastward = (from: number, to: number): number => (((to - from) % 360) + 360) % 360
