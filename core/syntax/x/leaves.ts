/** Checks single clauses: tags, phrases and the values of operators. */
import type { Leaf, OperatorNode, PhraseNode, TagNode } from "./ast.ts"
import { isAsciiAlphanumeric, isHashtag, trimPunctuation } from "./characters.ts"
import { checkBox, checkRadius } from "./geography.ts"
import { missingChoices } from "./missing.ts"
import { choiceOf, limits, type Operator, operatorNamed } from "./operators.ts"
import type { Report } from "./report.ts"
import { tokens } from "./tokens.ts"
import { countOf, intendedCount } from "./values.ts"
import { countries, intendedCountry, intendedLanguage, languageCode, languages } from "./vocabulary.ts"

export const checkLeaf = (text: string, node: Leaf, report: Report): void => {
  switch (node._tag) {
    case "Keyword":
      if (!isAsciiAlphanumeric(node.text.charCodeAt(0)) && tokens(node.text).length === 0) {
        noWords(node.span.start, node.span.end, report)
      }
      return
    case "Phrase":
      checkPhrase(text, node, report)
      return
    case "Tag":
      checkTag(node, report)
      return
    case "Operator": {
      const operator = operatorNamed(node.name)
      if (operator !== undefined) {
        checkValue(text, node, operator, report)
      }
    }
  }
}

// ---- helpers ----

function checkPhrase(text: string, node: PhraseNode, report: Report): void {
  const words = tokens(node.text).length
  const { start, end } = node.span
  if (words === 0) {
    noWords(start, end, report)
  } else if (node.distance !== undefined && words < 2) {
    const tilde = text.lastIndexOf("~", end)
    report.warn("proximity-one-word", tilde, end, "A distance needs two or more words in the quotes", {
      mend: { message: "Remove the distance", edits: [{ start: tilde, end, text: "" }] }
    })
  }
}

function noWords(start: number, end: number, report: Report): void {
  report.error("no-words", start, end, "There is no word here: punctuation alone matches nothing", {
    expected: ["letters, digits or an emoji"]
  })
}

function checkTag(node: TagNode, report: Report): void {
  const { start, end } = node.span
  if (node.sign === "@") {
    checkUsername(node.text, start + 1, end, report)
    return
  }
  const fits =
    node.sign === "#" ? isHashtag(node.text) : /^[\p{L}\p{N}\p{M}_]+(\.[\p{L}\p{N}\p{M}]+)?$/u.test(node.text)
  if (!fits) {
    const trimmed = trimPunctuation(node.text)
    const kind =
      node.sign === "#"
        ? "A hashtag holds letters, digits and _ only"
        : "A cashtag holds letters, digits and one dot only"
    report.error("tag-characters", start, end, kind, {
      expected: [`${node.sign}name`],
      ...(trimmed !== "" && {
        mend: { message: `Write ${node.sign}${trimmed}`, edits: [{ start: start + 1, end, text: trimmed }] }
      })
    })
  } else if (/^\d+$/.test(node.text)) {
    const kind = node.sign === "#" ? "hashtag" : "cashtag"
    report.warn("tag-of-digits", start, end, `X makes no ${kind} of digits alone: this will hardly match`, {
      mend: { message: "Search for the number", edits: [{ start, end, text: node.text }] }
    })
  }
}

function checkUsername(name: string, start: number, end: number, report: Report): void {
  if (isUsername(name)) {
    if (name.length > limits.usernameLength) {
      const numeric = /^\d+$/.test(name)
      const longest = numeric ? limits.idDigits : limits.usernameLength
      if (name.length <= longest) {
        return
      }
      const what = numeric ? "user id" : "username"
      report.warn("username-length", start, end, `No ${what} has more than ${longest} characters: this matches nobody`)
    }
    return
  }
  const trimmed = trimPunctuation(name)
  report.error("username-characters", start, end, "A username holds letters a to z, digits and _ only", {
    expected: ["a username such as nasa", "a numeric user id"],
    ...(trimmed !== "" && { mend: { message: `Write ${trimmed}`, edits: [{ start, end, text: trimmed }] } })
  })
}

function isUsername(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i)
    if (!isAsciiAlphanumeric(code) && code !== 95) {
      return false
    }
  }
  return name !== ""
}

function checkValue(text: string, node: OperatorNode, operator: Operator, report: Report): void {
  const { value } = node
  const { start, end } = node.valueSpan
  if (value.trim() === "") {
    const { form } = operator
    report.error("missing-value", node.span.start, node.span.end, `"${node.name}:" needs a value`, { expected: [form] })
    return
  }
  switch (operator.value) {
    case "username":
      account(text, node, report)
      return
    case "text":
    case "substring":
      if (operator.value === "text" && tokens(value).length === 0) {
        noWords(start, end, report)
      }
      return
    case "id":
      if (!/^\d{1,19}$/.test(value)) {
        const found = /(\d{10,19})\D*$/.exec(value)
        const id = found?.[1]
        report.error("id-digits", start, end, `A post id is 1 to ${limits.idDigits} digits`, {
          expected: [operator.form],
          ...(id !== undefined && { mend: { message: "Keep the id alone", edits: [unquotedEdit(text, node, id)] } })
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
      country(node, report)
      return
    case "language":
      language(text, node, report)
      return
    case "choice":
      chosen(node, operator, report)
      return
    case "range":
    case "count":
      counted(node, operator, report)
      return
    case "percent":
      percent(node, operator, report)
      return
    case "radius":
      checkRadius(node, report)
      return
    case "box":
      checkBox(node, report)
      return
  }
}

function account(text: string, node: OperatorNode, report: Report): void {
  const { start, end } = node.valueSpan
  const { value } = node
  if (value.includes(",") && /^@?\w+(,@?\w+)+$/.test(value)) {
    valueList(text, node, report)
  } else if (value.startsWith("@")) {
    report.error("at-sign", start, end, `"${node.name}:" takes the username without "@"`, {
      expected: [`${node.name}:${value.slice(1)}`],
      mend: { message: 'Remove "@"', edits: [{ start, end: start + 1, text: "" }] }
    })
  } else {
    checkUsername(value, start, end, report)
  }
}

/** `from:a,b` written out as alternatives, or as one exclusion each. */
function valueList(text: string, node: OperatorNode, report: Report): void {
  const { start, end } = node.span
  const negated = text[start - 1] === "-"
  const clauses = node.value.split(",").map((value) => `${node.name}:${value.replace("@", "")}`)
  const edit = negated
    ? { start: start - 1, end, text: clauses.map((clause) => `-${clause}`).join(" ") }
    : { start, end, text: `(${clauses.join(" OR ")})` }
  report.error("value-list", node.valueSpan.start, node.valueSpan.end, `"${node.name}:" takes one value`, {
    expected: [edit.text],
    mend: { message: "Repeat the operator for each value", edits: [edit] }
  })
}

function country(node: OperatorNode, report: Report): void {
  const { start, end } = node.valueSpan
  const code = node.value.toUpperCase()
  if (countries.has(code)) {
    return
  }
  const meant = intendedCountry.get(code)
  const advice = {
    expected: [meant ?? "a two-letter ISO 3166 code"],
    ...(meant !== undefined && { mend: { message: `Write ${meant}`, edits: [{ start, end, text: meant }] } })
  }
  if (/^[A-Z]{2}$/.test(code)) {
    report.warn("unknown-country", start, end, `"${node.value}" is no ISO 3166 country code`, advice)
  } else {
    report.error("country-form", start, end, "A country is a two-letter ISO 3166 code such as US or CH", advice)
  }
}

function language(text: string, node: OperatorNode, report: Report): void {
  const { start, end } = node.valueSpan
  if (languageCode(node.value) !== undefined) {
    return
  }
  if (/^[\w-]+(,[\w-]+)+$/.test(node.value)) {
    valueList(text, node, report)
    return
  }
  const meant =
    intendedLanguage(node.value) ??
    report.nearest(
      node.value.toLowerCase(),
      languages.map(({ code }) => code)
    )
  const hint = meant === undefined ? "" : `: did you mean "lang:${meant}"?`
  report.error("unknown-language", start, end, `X knows no language "${node.value}"${hint}`, {
    expected: meant === undefined ? ["a language code such as en, ja or pt"] : [meant],
    ...(meant !== undefined && { mend: { message: `Write lang:${meant}`, edits: [{ start, end, text: meant }] } })
  })
}

function chosen(node: OperatorNode, operator: Operator, report: Report): void {
  const { start, end } = node.valueSpan
  const value = node.value.toLowerCase()
  if (choiceOf(operator, value) !== undefined) {
    return
  }
  const clause = `${operator.name}:${value}`
  const known = missingChoices.get(clause)
  if (known !== undefined) {
    const { reason, replacement } = known
    report.error(
      "unavailable-operator",
      node.span.start,
      node.span.end,
      `"${clause}" is not available here: ${reason}`,
      {
        ...(replacement !== undefined && {
          expected: [replacement],
          mend: {
            message: `Write ${replacement}`,
            edits: [{ start: node.span.start, end: node.span.end, text: replacement }]
          }
        })
      }
    )
    return
  }
  const values = operator.choices.flatMap((choice) => [choice.value, ...choice.aliases])
  const close = report.nearest(value, values)
  const hint = close === undefined ? "" : `: did you mean "${operator.name}:${close}"?`
  report.error("unknown-value", start, end, `"${operator.name}:" has no value "${node.value}"${hint}`, {
    expected: operator.choices.map((choice) => `${operator.name}:${choice.value}`),
    ...(close !== undefined && {
      mend: { message: `Write ${operator.name}:${close}`, edits: [{ start, end, text: close }] }
    })
  })
}

function counted(node: OperatorNode, operator: Operator, report: Report): void {
  const { start, end } = node.valueSpan
  const range = countOf(node.value)
  const expected = operator.value === "range" ? ["1000", "1000..10000"] : ["1000"]
  if (range === undefined) {
    const meant = intendedCount(node.value)
    const form = operator.value === "range" ? "n or min..max" : "n"
    report.error("number-form", start, end, `"${node.name}:" takes ${form} in plain digits`, {
      expected,
      ...(meant !== undefined && { mend: { message: `Write ${meant}`, edits: [{ start, end, text: meant }] } })
    })
  } else if (operator.value === "count" && range.max !== undefined) {
    const text = `followers_count:${range.min}..${range.max}`
    report.error("number-form", start, end, `"${node.name}:" takes one number: use followers_count: for a range`, {
      expected,
      mend: { message: `Write ${text}`, edits: [{ start: node.span.start, end: node.span.end, text }] }
    })
  } else if (range.max !== undefined && range.max < range.min) {
    report.error("range-order", start, end, "The smaller number of a range comes first", {
      expected: [`${range.max}..${range.min}`],
      mend: { message: "Swap the two", edits: [{ start, end, text: `${range.max}..${range.min}` }] }
    })
  }
}

function percent(node: OperatorNode, operator: Operator, report: Report): void {
  const { start, end } = node.valueSpan
  const { min, max } = limits.sample
  const number = /^\d{1,15}$/.test(node.value) ? Number(node.value) : -1
  if (number >= min && number <= max) {
    return
  }
  const trimmed = /^(\d{1,15})%$/.exec(node.value)?.[1] ?? (number > max ? String(max) : undefined)
  report.error("sample-range", start, end, `"sample:" takes a whole percentage from ${min} to ${max}`, {
    expected: [operator.form],
    ...(trimmed !== undefined && {
      mend: { message: `Write sample:${trimmed}`, edits: [{ start, end, text: trimmed }] }
    })
  })
}

/** Replaces a value together with the quotes around it. */
function unquotedEdit(text: string, node: OperatorNode, value: string) {
  const colon = text.indexOf(":", node.span.start)
  return { start: colon + 1, end: node.span.end, text: value }
}
