/** Locations of the demo feed's posts: real cities with approximate bounding boxes. */
import type { Array as Arr } from "effect"
import type { Language } from "./phrases.ts"

export interface Place {
  readonly id: string
  readonly full_name: string
  readonly name: string
  readonly country: string
  readonly country_code: string
  readonly place_type: string
  /** A GeoJSON feature. */
  readonly geo: {
    readonly type: "Feature"
    /** West, south, east, north. */
    readonly bbox: readonly [number, number, number, number]
    readonly properties: Readonly<Record<string, never>>
  }
}

export const places: Readonly<Record<Language, Arr.NonEmptyReadonlyArray<Place>>> = {
  en: [
    city("London", { region: "England", country: "United Kingdom", code: "GB", bbox: [-0.2, 51.45, 0, 51.56] }),
    city("Manhattan", { region: "NY", country: "United States", code: "US", bbox: [-74.03, 40.68, -73.91, 40.88] }),
    city("Seattle", { region: "WA", country: "United States", code: "US", bbox: [-122.44, 47.5, -122.24, 47.73] }),
    city("Dublin", { region: "Ireland", country: "Ireland", code: "IE", bbox: [-6.39, 53.3, -6.15, 53.41] })
  ],
  es: [city("Madrid", { region: "España", country: "España", code: "ES", bbox: [-3.79, 40.36, -3.61, 40.49] })],
  de: [
    city("Berlin", { region: "Deutschland", country: "Deutschland", code: "DE", bbox: [13.29, 52.47, 13.49, 52.57] })
  ],
  fr: [city("Paris", { region: "France", country: "France", code: "FR", bbox: [2.25, 48.82, 2.42, 48.9] })],
  ja: [city("Shibuya", { region: "Tokyo", country: "Japan", code: "JP", bbox: [139.66, 35.64, 139.72, 35.69] })]
}

/** For the `coordinates` of a post. */
export const centreOf = ({ geo: { bbox } }: Place): readonly [longitude: number, latitude: number] => [
  (bbox[0] + bbox[2]) / 2,
  (bbox[1] + bbox[3]) / 2
]

// ---- helpers ----

function city(
  name: string,
  details: {
    readonly region: string
    readonly country: string
    readonly code: string
    readonly bbox: readonly [number, number, number, number]
  }
): Place {
  return {
    id: `demo${name.toLowerCase()}`,
    full_name: `${name}, ${details.region}`,
    name,
    country: details.country,
    country_code: details.code,
    place_type: "city",
    geo: { type: "Feature", bbox: details.bbox, properties: {} }
  }
}
