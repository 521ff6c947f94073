/** Numeric options. Their errors name the option and its range, unlike those of @effect/cli. */
import { Options } from "@effect/cli"
import { Schema } from "effect"
import { describeRange, parseWholeNumber, type Range } from "../core/model/wholeNumber.ts"

export const wholeNumberOption = (name: string, range: Range): Options.Options<number> =>
  option(name, describeRange(range), (text) => parseWholeNumber(text, range) !== undefined)

export const numberOption = (name: string, { min, max }: Range): Options.Options<number> =>
  option(
    name,
    `a number from ${min} to ${max}`,
    (text) => /^\d{0,15}\.?\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max
  )

// ---- helpers ----

const option = (name: string, expected: string, isValid: (text: string) => boolean): Options.Options<number> =>
  Options.text(name).pipe(
    Options.withPseudoName("number"),
    Options.withSchema(
      Schema.String.pipe(Schema.filter(isValid, { message: () => `Expected --${name} to be ${expected}` }))
    ),
    Options.map(Number)
  )
