/** The operators of the query language, with meaning and example. The help is generated from this table. */

export interface Operator {
  /** Syntax, with the placeholders `x`, `y` and `n`. */
  readonly form: string
  readonly name: string
  readonly meaning: string
  /** A complete rule that passes the checker. */
  readonly example: string
}

export const operators: ReadonlyArray<Operator> = [
  {
    form: "x AND y",
    name: "and",
    meaning: "Both must match. It makes the clauses before and after it required",
    example: "tesla AND recall"
  },
  {
    form: "x && y",
    name: "and-sign",
    meaning: "The same as AND, with a space on each side",
    example: "tesla && recall"
  },
  {
    form: "x OR y",
    name: "or",
    meaning:
      "One match is enough. Next to AND in the same group its clause has no effect, so put the alternatives in parentheses",
    example: '(tesla OR "electric vehicle") AND recall'
  },
  { form: "x || y", name: "or-sign", meaning: "The same as OR, with a space on each side", example: "tesla || rivian" },
  {
    form: "x AND NOT y",
    name: "not",
    meaning: "Excludes pages that match the next clause. A rule or group with only excluded clauses never matches",
    example: "tesla AND NOT ford"
  },
  { form: "!x", name: "not-sign", meaning: "The same as NOT, without a space after it", example: "tesla AND !ford" },
  { form: "-x", name: "minus", meaning: "The same as NOT, without a space after it", example: "tesla -ford" },
  {
    form: "+x",
    name: "plus",
    meaning: "The clause is required, regardless of the operators around it. No space after it",
    example: "+tesla +recall"
  },
  {
    form: "x y",
    name: "side by side",
    meaning: "A space between two clauses means OR. Write AND or OR to be clear",
    example: "tesla rivian"
  },
  {
    form: '"x y"',
    name: "phrase",
    meaning: "The words next to each other, in this order. In a keyword field the quotes contain one whole value",
    example: '"site explorer"'
  },
  {
    form: '"x y"~n',
    name: "slop",
    meaning: "The words of the phrase may move by n positions in total, with other words between them",
    example: '"tesla recall"~5'
  },
  {
    form: "x* *x x?y",
    name: "wildcard",
    meaning:
      "An asterisk matches any number of characters, a question mark exactly one; both may come first. In a text field the pattern matches single words, in a keyword field the whole value",
    example: "domain:*.gov AND electri*"
  },
  {
    form: "field:*",
    name: "any value",
    meaning: "The field has any value",
    example: "tesla AND publish_time:*"
  },
  {
    form: "*:*",
    name: "every page",
    meaning: "Matches every page",
    example: "*:* AND NOT language:en AND dr:[90 TO *]"
  },
  {
    form: "x~ x~1",
    name: "fuzzy",
    meaning: "A word within two edits (or one); swapping two adjacent letters counts as one edit",
    example: "volkswagen~1"
  },
  {
    form: "/x/",
    name: "regex",
    meaning:
      "A regular expression in Lucene's dialect. It matches the whole value. Write [0-9] for \\d and \\/ for a slash; there is no ^ and $. The characters . ? + * | { } [ ] ( ) \" \\ # @ & < > ~ are operators and need a backslash to be literal",
    example: "tesla AND url:/.*\\/blog\\/[0-9]+.*/"
  },
  {
    form: "[x TO y]",
    name: "inclusive range",
    meaning: "From x to y, both inclusive",
    example: "tesla AND dr:[50 TO 100]"
  },
  {
    form: "{x TO y}",
    name: "exclusive range",
    meaning: "From x to y, both exclusive; the brackets can be mixed",
    example: "tesla AND dr:{50 TO 100]"
  },
  {
    form: "[x TO *]",
    name: "open range",
    meaning: "An asterisk leaves one end open",
    example: "tesla AND dr:[70 TO *]"
  },
  {
    form: "x^2",
    name: "boost",
    meaning: "A weight for sorting. Matches are not sorted, so it has no effect",
    example: "tesla^2 OR rivian"
  },
  {
    form: "(x OR y)",
    name: "group",
    meaning: "Parentheses group several clauses into one",
    example: "(tesla OR rivian) AND recall"
  },
  {
    form: "field:x",
    name: "field",
    meaning: "Searches for the value in the field; without a field, in the added text",
    example: "title:tesla"
  },
  {
    form: "field:(x OR y)",
    name: "field group",
    meaning: "The field applies to every clause in the parentheses that has no field",
    example: 'title:("competitor a" OR "competitor b")'
  },
  {
    form: "\\x",
    name: "escape",
    meaning:
      'A backslash makes the next character literal. Outside quotes these need one: + - ! ( ) : ^ [ ] " { } ~ * ? \\ /. Inside quotes only " and \\ do. In JSON, write each backslash twice',
    example: "url:https\\:\\/\\/example.com\\/blog\\/*"
  }
]
