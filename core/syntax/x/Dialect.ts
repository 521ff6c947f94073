/** What a platform whose filters are written as X's defines for itself: its operators, and those that it lacks. */
import { limits, type Operator, type OwnValue, operatorNamed, operatorNames } from "./operators.ts"
import {
  type UnavailableChoice,
  type UnavailableOperator,
  unavailableChoices,
  unavailableOperator
} from "./unavailable.ts"

export interface Dialect {
  /** In messages. */
  readonly name: string
  /** Of a rule, by default. */
  readonly maxLength: number
  /** `name` is a name or alias in lower case. */
  readonly operatorNamed: (name: string) => Operator | undefined
  readonly operatorNames: () => ReadonlyArray<string>
  /** `name` is in lower case. */
  readonly unavailableOperator: (name: string) => UnavailableOperator | undefined
  readonly unavailableChoices: ReadonlyMap<string, UnavailableChoice>
  /** The name after "@". Absent: a username of X. */
  readonly account?: OwnValue
}

export const xDialect: Dialect = {
  name: "X",
  maxLength: limits.maxLength,
  operatorNamed,
  operatorNames,
  unavailableOperator,
  unavailableChoices
}
