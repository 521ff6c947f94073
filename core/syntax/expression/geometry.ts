/** Tests whether an area on the Earth lies inside a circle or a box. */
import type { Area } from "./eventFields.ts"

export interface Circle {
  readonly longitude: number
  readonly latitude: number
  readonly kilometres: number
}

/** The corners are enough: along a side, the distance to a point in the same hemisphere is greatest at an end. */
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
  const width = degreesEast(box.west, box.east)
  const from = degreesEast(box.west, area.west)
  return from <= width && from + degreesEast(area.west, area.east) <= width
}

// ---- helpers ----

/** Mean radius. */
const EARTH_KILOMETRES = 6371.0088

const radians = (degrees: number): number => (degrees * Math.PI) / 180

/** The haversine formula. */
const kilometresBetween = (longitude: number, latitude: number, circle: Circle): number => {
  const north = Math.sin(radians(latitude - circle.latitude) / 2)
  const east = Math.sin(radians(longitude - circle.longitude) / 2)
  const half = north * north + Math.cos(radians(latitude)) * Math.cos(radians(circle.latitude)) * east * east
  return 2 * EARTH_KILOMETRES * Math.asin(Math.min(1, Math.sqrt(half)))
}

const degreesEast = (from: number, to: number): number => (((to - from) % 360) + 360) % 360
