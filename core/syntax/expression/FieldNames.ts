/** The fields of a platform's events, with their names in explanations. */

export interface FieldNames {
  /** Inside a sentence: `the title of the page`. */
  readonly text: Readonly<Record<string, string>>
  readonly keyword: Readonly<Record<string, KeywordName>>
  readonly number: Readonly<Record<string, string>>
}

export interface KeywordName {
  /** At the start of a sentence: `The language of the post`. */
  readonly name: string
  /** The field has few distinct values, so that an equal value rules out few events. */
  readonly isCoarse?: boolean
  /** Each value is there or not, whatever the others are: that a post is a reply says nothing about `is:quote`. */
  readonly isFlag?: boolean
  /** Describes `field = value` where "name is value" does not read well. */
  readonly equals?: (value: string) => string
}

export const coarseFields = ({ keyword }: FieldNames): ReadonlySet<string> =>
  new Set(Object.keys(keyword).filter((field) => keyword[field]?.isCoarse === true))
