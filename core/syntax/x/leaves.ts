/** Checks single clauses: keywords, tags, phrases and the values of operators. */
import type { Span } from "../issues/issue.ts"
import type { Report } from "../issues/Report.ts"
import type { Leaf, OperatorNode, PhraseNode, TagNode } from "./ast.ts"
import { isAsciiAlphanumeric, isHashtag, trimPunctuation } from "./characters.ts"
import type { Dialect } from "./Dialect.ts"
import { checkBox, checkRadius } from "./geography.ts"
import { choiceOf, limits, type Operator, type OwnValue } from "./operators.ts"
import { removal } from "./removal.ts"
import { tokens } from "./tokens.ts"
import { intendedRange, rangeOf } from "./values.ts"
import { countries, intendedCountry, intendedLanguage, languageCode, languages } from "./vocabulary.ts"

export const checkLeaf = (report: Report, node: Leaf, dialect: Dialect): void => {
  switch (node._tag) {
    case "Keyword":
      if (!isAsciiAlphanumeric(node.text.charCodeAt(0)) && tokens(node.text).length === 0) {
        noWords(report, node.span)
      }
      return
    case "Phrase":
      checkPhrase(report, node)
      return
    case "Tag":
      checkTag(report, node, dialect)
      return
    case "Operator":
      checkValue(report, node, dialect)
  }
}

// ---- helpers ----

function checkPhrase(report: Report, node: PhraseNode): void {
  const words = tokens(node.text).length
  const { end } = node.span
  if (words === 0) {
    noWords(report, node.span)
  } else if (node.distance !== undefined && words < 2) {
    const tilde = report.text.lastIndexOf("~", end)
    report.warning("proximity-one-word", tilde, end, "A distance needs two or more words in the quotes", {
      fix: report.fix("Remove the distance", tilde, end, "")
    })
  }
}

function noWords(report: Report, { start, end }: Span): void {
  report.error("no-words", start, end, "There is no word here: punctuation alone matches nothing", {
    expected: ["letters, digits or an emoji"]
  })
}

function checkTag(report: Report, { sign, text, span }: TagNode, { name, account }: Dialect): void {
  const { start, end } = span
  if (sign === "@") {
    if (account === undefined) checkUsername(report, text, start + 1, end)
    else checkOwn(report, { text, name: "@", span: { start: start + 1, end } }, account)
    return
  }
  const isValid = sign === "#" ? isHashtag(text) : /^[\p{L}\p{N}\p{M}_]+(\.[\p{L}\p{N}\p{M}]+)?$/u.test(text)
  if (!isValid) {
    const trimmed = trimPunctuation(text)
    const message =
      sign === "#"
        ? "A hashtag can contain only letters, digits and _"
        : "A cashtag can contain only letters, digits and one dot"
    report.error("tag-characters", start, end, message, {
      expected: [`${sign}name`],
      fix: trimmed === "" ? undefined : report.fix(`Write ${sign}${trimmed}`, start + 1, end, trimmed)
    })
  } else if (/^\d+$/.test(text)) {
    const kind = sign === "#" ? "hashtag" : "cashtag"
    report.warning(
      "tag-of-digits",
      start,
      end,
      `${name} does not treat digits alone as a ${kind}: this rarely matches`,
      {
        fix: report.fix("Search for the number", start, end, text)
      }
    )
  }
}

function checkUsername(report: Report, name: string, start: number, end: number): void {
  if (!/^[a-z0-9_]+$/i.test(name)) {
    const trimmed = trimPunctuation(name)
    report.error("username-characters", start, end, "A username can contain only letters a to z, digits and _", {
      expected: ["a username such as nasa", "a numeric user id"],
      fix: trimmed === "" ? undefined : report.fix(`Write ${trimmed}`, start, end, trimmed)
    })
    return
  }
  if (name.length <= limits.usernameLength) {
    return
  }
  const numeric = /^\d+$/.test(name)
  const maxLength = numeric ? limits.idDigits : limits.usernameLength
  if (name.length > maxLength) {
    const kind = numeric ? "user id" : "username"
    const message = `No ${kind} has more than ${maxLength} characters: this matches nobody`
    report.warning("username-length", start, end, message)
  }
}

function checkValue(report: Report, node: OperatorNode, dialect: Dialect): void {
  const { value, operator } = node
  const { start, end } = node.valueSpan
  if (value.trim() === "") {
    const { form } = operator
    report.error("missing-value", node.span.start, node.span.end, `"${node.name}:" needs a value`, { expected: [form] })
    return
  }
  switch (operator.value) {
    case "username":
      checkAccount(report, node)
      return
    case "text":
      if (tokens(value).length === 0) {
        noWords(report, node.valueSpan)
      }
      return
    case "substring":
      return
    case "id":
      if (!/^\d{1,19}$/.test(value)) {
        const id = /(\d{10,19})\D*$/.exec(value)?.[1]
        // The edit includes the quotes around the value.
        const from = report.text.indexOf(":", node.span.start) + 1
        report.error("id-digits", start, end, `A post id is 1 to ${limits.idDigits} digits`, {
          expected: [operator.form],
          fix: id === undefined ? undefined : report.fix("Keep the id alone", from, node.span.end, id)
        })
      }
      return
    case "context":
      if (!/^(\d{1,19}\.(\d{1,19}|\*)|\*\.\d{1,19})$/.test(value)) {
        const message = "A context is domain.entity, domain.* or *.entity, each a number"
        report.error("context-form", start, end, message, { expected: ["domain.entity", "domain.*", "*.entity"] })
      }
      return
    case "country":
      checkCountry(report, node)
      return
    case "language":
      checkLanguage(report, node, dialect)
      return
    case "choice":
      checkChoice(report, node, dialect)
      return
    case "range":
    case "count":
      checkCount(report, node, operator)
      return
    case "percent":
      checkPercent(report, node, operator)
      return
    case "radius":
      checkRadius(report, node)
      return
    case "box":
      checkBox(report, node)
      return
    case "own":
      if (operator.own !== undefined) {
        checkOwn(report, { text: value, name: `${node.name}:`, span: node.valueSpan }, operator.own)
      }
  }
}

function checkOwn(
  report: Report,
  { text, name, span }: { readonly text: string; readonly name: string; readonly span: Span },
  { canonical, takes, example }: OwnValue
): void {
  if (canonical(text) !== undefined) return
  const bare = text.replace(/^@/, "")
  const fix =
    bare !== text && canonical(bare) !== undefined
      ? report.fix('Remove "@"', span.start, span.start + 1, "")
      : undefined
  report.error("value-form", span.start, span.end, `"${name}" ${takes}`, { expected: [example], fix })
}

function checkAccount(report: Report, node: OperatorNode): void {
  const { start, end } = node.valueSpan
  const { value } = node
  if (value.includes(",") && /^@?\w+(,@?\w+)+$/.test(value)) {
    valueList(report, node)
  } else if (value.startsWith("@")) {
    report.error("at-sign", start, end, `"${node.name}:" takes the username without "@"`, {
      expected: [`${node.name}:${value.slice(1)}`],
      fix: report.fix('Remove "@"', start, start + 1, "")
    })
  } else {
    checkUsername(report, value, start, end)
  }
}

/** Rewrites `from:a,b` to `(from:a OR from:b)`, and `-from:a,b` to `-from:a -from:b`. */
function valueList(report: Report, node: OperatorNode): void {
  const { start, end } = node.span
  const negated = report.text[start - 1] === "-"
  const clauses = node.value.split(",").map((value) => `${node.name}:${value.replace("@", "")}`)
  const text = negated ? clauses.map((clause) => `-${clause}`).join(" ") : `(${clauses.join(" OR ")})`
  report.error("value-list", node.valueSpan.start, node.valueSpan.end, `"${node.name}:" takes one value`, {
    expected: [text],
    fix: report.fix("Repeat the operator for each value", negated ? start - 1 : start, end, text)
  })
}

function checkCountry(report: Report, { value, valueSpan: { start, end } }: OperatorNode): void {
  const code = value.toUpperCase()
  if (countries.has(code)) {
    return
  }
  const intended = intendedCountry.get(code)
  const advice = {
    expected: [intended ?? "a two-letter ISO 3166 code"],
    fix: intended === undefined ? undefined : report.fix(`Write ${intended}`, start, end, intended)
  }
  if (/^[A-Z]{2}$/.test(code)) {
    report.warning("unknown-country", start, end, `"${value}" is not an ISO 3166 country code`, advice)
  } else {
    report.error("country-form", start, end, "A country is a two-letter ISO 3166 code such as US or CH", advice)
  }
}

function checkLanguage(report: Report, node: OperatorNode, { name }: Dialect): void {
  const { value } = node
  const { start, end } = node.valueSpan
  if (languageCode(value) !== undefined) {
    return
  }
  if (/^[\w-]+(,[\w-]+)+$/.test(value)) {
    valueList(report, node)
    return
  }
  const codes = languages.map(({ code }) => code)
  const intended = intendedLanguage(value) ?? report.nearest(value.toLowerCase(), codes)
  const hint = intended === undefined ? "" : `: did you mean "lang:${intended}"?`
  report.error("unknown-language", start, end, `${name} does not support the language "${value}"${hint}`, {
    expected: [intended ?? "a language code such as en, ja or pt"],
    fix: intended === undefined ? undefined : report.fix(`Write lang:${intended}`, start, end, intended)
  })
}

function checkChoice(report: Report, node: OperatorNode, { unavailableChoices }: Dialect): void {
  const { name, choices } = node.operator
  const value = node.value.toLowerCase()
  if (choiceOf(choices, value) !== undefined) {
    return
  }
  const clause = `${name}:${value}`
  const known = unavailableChoices.get(clause)
  if (known !== undefined) {
    const { start, end } = node.span
    const { reason, replacement, neverHolds } = known
    const message = `"${clause}" is not available here: ${reason}`
    if (neverHolds === true && report.text[start - 1] === "-") {
      const fix = removal(report, "Remove it: there is nothing to exclude", start - 1, end)
      report.error("unavailable-operator", start - 1, end, message, { fix })
      return
    }
    report.error("unavailable-operator", start, end, message, {
      expected: replacement === undefined ? undefined : [replacement],
      fix: replacement === undefined ? undefined : report.fix(`Write ${replacement}`, start, end, replacement)
    })
    return
  }
  const { start, end } = node.valueSpan
  const values = choices.flatMap((choice) => [choice.value, ...choice.aliases])
  const near = report.nearest(value, values)
  const hint = near === undefined ? "" : `: did you mean "${name}:${near}"?`
  report.error("unknown-value", start, end, `"${name}:" has no value "${node.value}"${hint}`, {
    expected: choices.map((choice) => `${name}:${choice.value}`),
    fix: near === undefined ? undefined : report.fix(`Write ${name}:${near}`, start, end, near)
  })
}

function checkCount(report: Report, node: OperatorNode, operator: Operator): void {
  const { start, end } = node.valueSpan
  const range = rangeOf(node.value)
  const expected = operator.value === "range" ? ["1000", "1000..10000"] : ["1000"]
  if (range === undefined) {
    const intended = intendedRange(node.value)
    const form = operator.value === "range" ? "n or min..max" : "n"
    report.error("number-form", start, end, `"${node.name}:" takes ${form} in plain digits`, {
      expected,
      fix: intended === undefined ? undefined : report.fix(`Write ${intended}`, start, end, intended)
    })
  } else if (operator.value === "count" && range.max !== undefined) {
    const text = `followers_count:${range.min}..${range.max}`
    report.error("number-form", start, end, `"${node.name}:" takes one number: use followers_count: for a range`, {
      expected,
      fix: report.fix(`Write ${text}`, node.span.start, node.span.end, text)
    })
  } else if (range.max !== undefined && range.max < range.min) {
    const swapped = `${range.max}..${range.min}`
    report.error("range-order", start, end, "The smaller number of a range comes first", {
      expected: [swapped],
      fix: report.fix("Swap the two", start, end, swapped)
    })
  }
}

function checkPercent(report: Report, { value, valueSpan: { start, end } }: OperatorNode, { form }: Operator): void {
  const { min, max } = limits.sample
  const number = /^\d{1,15}$/.test(value) ? Number(value) : -1
  if (number >= min && number <= max) {
    return
  }
  const intended = /^(\d{1,15})%$/.exec(value)?.[1] ?? (number > max ? String(max) : undefined)
  report.error("sample-range", start, end, `"sample:" takes a whole percentage from ${min} to ${max}`, {
    expected: [form],
    fix: intended === undefined ? undefined : report.fix(`Write sample:${intended}`, start, end, intended)
  })
}
