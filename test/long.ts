/** Sizes of tests that have a short form, and a long one for `npm run check:long`. */
import process from "node:process"

export const isLong = process.env["EARSHOT_LONG"] === "1"

export const sized = <A>(short: A, long: A): A => (isLong ? long : short)
