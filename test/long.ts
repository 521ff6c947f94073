/** Tests that have a short form for every change and a long one, which `npm run check:long` runs. */
import process from "node:process"

export const isLong = process.env["EARSHOT_LONG"] === "1"

export const sized = <A>(short: A, long: A): A => (isLong ? long : short)
