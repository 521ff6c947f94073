/** A time as the platforms write it: their times have no milliseconds. */
export const inSeconds = (at: number): string => new Date(at - (at % 1_000)).toISOString()
