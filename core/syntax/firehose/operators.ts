/** Every sign and word of the query language with its meaning and a rule that uses it; the help is made from this. */

export interface Operator {
  /** How it is written, with `x`, `y` and `n` as stand-ins. */
  readonly form: string
  readonly name: string
  readonly meaning: string
  /** A whole rule that passes the checker. */
  readonly example: string
}

export const operators: ReadonlyArray<Operator> = [
  {
    form: "x AND y",
    name: "and",
    meaning: "Both must hold. It makes the clause before it and the clause after it required",
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
      "One is enough. It does not split a rule in two: beside AND in one level it leaves its clause without effect, so put the alternatives in parentheses",
    example: '(tesla OR "electric vehicle") AND recall'
  },
  { form: "x || y", name: "or-sign", meaning: "The same as OR, with a space on each side", example: "tesla || rivian" },
  {
    form: "x AND NOT y",
    name: "not",
    meaning: "The clause after it must not hold. It only takes away: a rule or a group of nothing else matches no page",
    example: "tesla AND NOT ford"
  },
  { form: "!x", name: "not-sign", meaning: "The same as NOT, without a space after it", example: "tesla AND !ford" },
  { form: "-x", name: "minus", meaning: "The same as NOT, without a space after it", example: "tesla -ford" },
  {
    form: "+x",
    name: "plus",
    meaning: "The clause must hold, whatever stands around it. No space after it",
    example: "+tesla +recall"
  },
  {
    form: "x y",
    name: "side by side",
    meaning: "Two clauses with only a space between them are joined with OR. Write AND or OR to be clear",
    example: "tesla rivian"
  },
  {
    form: '"x y"',
    name: "phrase",
    meaning: "The words stand next to each other in this order. In a keyword field the quotes hold one whole value",
    example: '"site explorer"'
  },
  {
    form: '"x y"~n',
    name: "slop",
    meaning: "The words of the phrase may be moved by n positions in all, other words standing between them",
    example: '"tesla recall"~5'
  },
  {
    form: "x* *x x?y",
    name: "wildcard",
    meaning:
      "An asterisk stands for any characters or none, a question mark for exactly one; at the start too. In a text field the pattern meets single words, in a keyword field the whole value",
    example: "domain:*.gov AND electri*"
  },
  {
    form: "field:*",
    name: "any value",
    meaning: "The field has a value at all",
    example: "tesla AND publish_time:*"
  },
  {
    form: "*:*",
    name: "every page",
    meaning: "Holds for every page",
    example: "*:* AND NOT language:en AND dr:[90 TO *]"
  },
  {
    form: "x~ x~1",
    name: "fuzzy",
    meaning: "A word that is up to two (or one) letters away; swapped neighbours count as one",
    example: "volkswagen~1"
  },
  {
    form: "/x/",
    name: "regex",
    meaning:
      "A regular expression in Lucene's dialect that must fit the whole value from end to end. [0-9] in place of \\d, no ^ and $, a slash is written \\/. The signs . ? + * | { } [ ] ( ) \" \\ # @ & < > ~ have a meaning and need a backslash to be themselves",
    example: "tesla AND url:/.*\\/blog\\/[0-9]+.*/"
  },
  {
    form: "[x TO y]",
    name: "inclusive range",
    meaning: "From x to y, both included",
    example: "tesla AND dr:[50 TO 100]"
  },
  {
    form: "{x TO y}",
    name: "exclusive range",
    meaning: "Between x and y, neither included; the brackets can be mixed",
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
    meaning: "Weighs a clause for sorting. A monitor sorts nothing, so it is read and has no effect",
    example: "tesla^2 OR rivian"
  },
  {
    form: "(x OR y)",
    name: "group",
    meaning: "Parentheses make one clause of several",
    example: "(tesla OR rivian) AND recall"
  },
  {
    form: "field:x",
    name: "field",
    meaning: "Looks the value up in the field; without one the added text is meant",
    example: "title:tesla"
  },
  {
    form: "field:(x OR y)",
    name: "field group",
    meaning: "The field holds for every clause in the parentheses that names no other",
    example: 'title:("competitor a" OR "competitor b")'
  },
  {
    form: "\\x",
    name: "escape",
    meaning:
      'A backslash takes the next character as it is. Outside quotes these need one: + - ! ( ) : ^ [ ] " { } ~ * ? \\ /. Inside quotes only " and \\ do. JSON doubles each backslash once more',
    example: "url:https\\:\\/\\/example.com\\/blog\\/*"
  }
]
