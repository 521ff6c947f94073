/** Numeric options. Their errors name the option and its range, unlike those of @effect/cli. */
import { Options } from "@effect/cli"
import { Schema } from "effect"

export interface Range {
  readonly min: number
  readonly max: number
}

export const wholeNumberOption = (name: string, range: Range): Options.Options<number> =>
  option(name, range, "a whole number", /^\d{1,15}$/)

export const numberOption = (name: string, range: Range): Options.Options<number> =>
  option(name, range, "a number", /^\d{0,15}\.?\d{1,15}$/)

// ---- helpers ----

const option = (name: string, { min, max }: Range, kind: string, form: RegExp): Options.Options<number> =>
  Options.text(name).pipe(
    Options.withPseudoName("number"),
    Options.withSchema(
      Schema.String.pipe(
        Schema.filter((text) => form.test(text) && Number(text) >= min && Number(text) <= max, {
          message: () => `Expected --${name} to be ${kind} from ${min} to ${max}`
        })
      )
    ),
    Options.map(Number)
  )
