/** Platforms as people write them. A platform that is not here is shown by its id. */
export const platformName = (platform: string): string => NAMES[platform] ?? platform

// ---- helpers ----

const NAMES: Readonly<Record<string, string>> = { x: "X", firehose: "Firehose" }
