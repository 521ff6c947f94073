/** Platforms as people write them. A platform that is not here is shown by its id. */
export const platformName = (platform: string): string => NAMES[platform] ?? platform

/** The entries of a record by platform, in the same order on every page. */
export const byPlatform = <A>(record: Readonly<Record<string, A>>): ReadonlyArray<readonly [string, A]> =>
  Object.entries(record).sort(([a], [b]) => placeOf(a) - placeOf(b))

// ---- helpers ----

const NAMES: Readonly<Record<string, string>> = {
  x: "X",
  firehose: "Firehose",
  bluesky: "Bluesky",
  wikimedia: "Wikimedia",
  feeds: "Feeds"
}

const placeOf = (platform: string): number => {
  const place = Object.keys(NAMES).indexOf(platform)
  return place === -1 ? Number.MAX_SAFE_INTEGER : place
}
