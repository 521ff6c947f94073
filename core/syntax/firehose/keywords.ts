/** Checks the values of keyword fields, which match whole values and are case-sensitive. */
import type { Fix } from "../issues/issue.ts"
import type { Report } from "../issues/Report.ts"
import type { Group, Phrase, Query, Range, Term, Wildcard } from "./ast.ts"
import type { KeywordFieldInfo, Noun } from "./fieldSet.ts"
import {
  isKnownLabel,
  isLanguage,
  isListedLabel,
  type LabelField,
  labelsOf,
  languages,
  suggestLabel,
  suggestLanguages
} from "./labels.ts"
import { escapeTerm, escapeWildcard, quotePhrase } from "./printer.ts"
import { quoted } from "./quoted.ts"
import { unescapedEdit } from "./unescaped.ts"
import { checkOrder } from "./values.ts"

export const checkKeyword = (
  report: Report,
  query: Exclude<Query, Group>,
  field: KeywordFieldInfo,
  noun: Noun
): void => {
  switch (query._tag) {
    case "Term":
    case "Phrase":
      checkExact(report, query, field, noun)
      return
    case "Wildcard":
      checkWildcard(report, query, field)
      return
    case "Range":
      checkRange(report, query, field)
      return
    default:
      return
  }
}

// ---- helpers ----

type Exact = Term | Phrase

const checkExact = (report: Report, query: Exact, field: KeywordFieldInfo, noun: Noun): void => {
  const { start, end } = query.value
  const { text } = query
  if (query._tag === "Phrase") {
    if (query.slop > 0) {
      report.warning(
        "ignored-suffix",
        end,
        query.span.end,
        `"${field.name}" matches whole values: this has no effect`,
        { fix: report.fix("Remove it", end, query.span.end, "") }
      )
    }
    if (text.includes("*")) {
      const pattern = escapeWildcard(text)
      report.warning("quoted-wildcard", start, end, 'Inside quotes "*" is an ordinary character, not a wildcard', {
        expected: [pattern],
        fix: report.fix("Write it without quotes", start, end, pattern)
      })
      return
    }
  }
  switch (field.format) {
    case "domain":
      checkDomain(report, query)
      return
    case "url":
      checkUrl(report, query)
      return
    case "code":
      if (!/^[a-z]{2,3}(-[a-z0-9]+)*$/.test(text)) checkLanguage(report, query)
      return
    case "language":
      checkLanguage(report, query)
      return
    case "page_type":
    case "page_category":
      checkLabel(report, query, field.format)
      return
    case "time":
      checkPublishTime(report, query, noun)
      return
    default:
      if (field.values !== undefined) checkListed(report, query, field, field.values)
  }
}

const checkListed = (report: Report, query: Exact, { name }: KeywordFieldInfo, values: ReadonlyArray<string>): void => {
  if (values.includes(query.text)) return
  const { start, end } = query.value
  const near = report.nearest(query.text.toLowerCase(), values)
  report.warning("unknown-value", start, end, `${quoted(query.text)} is not a value of ${name}: it never matches`, {
    expected: values,
    fix: near === undefined ? undefined : report.fix(`Write ${near}`, start, end, printLike(query, near))
  })
}

/** Writes a value with quotes if the query has quotes. */
const printLike = (query: Exact, text: string): string =>
  query._tag === "Phrase" ? quotePhrase(text) : escapeTerm(text)

const checkDomain = (report: Report, query: Exact): void => {
  const { text, value } = query
  const { start, end } = value
  if (/[/:\s]/.test(text)) {
    const edit = unescapedEdit(text, { hasDomainField: query.field !== undefined })
    report.warning("domain-not-host", start, end, `A domain is only a host name: ${quoted(text)} never matches`, {
      expected: ["domain:example.com"],
      fix:
        query.field === undefined || edit.text.startsWith('"')
          ? undefined
          : report.fix(edit.message, edit.wholeClause ? query.span.start : start, end, edit.text)
    })
    return
  }
  const lower = text.toLowerCase()
  if (lower !== text) {
    report.warning("keyword-case", start, end, `Domains are lower case: ${quoted(text)} never matches`, {
      expected: [lower],
      fix: report.fix("Write it in lower case", start, end, printLike(query, lower))
    })
  }
  if (lower.startsWith("www.") && lower.length > 4) {
    const host = lower.slice(4)
    report.warning("domain-www", start, end, 'Domains have no "www."', {
      expected: [host],
      fix: report.fix('Remove "www."', start, end, printLike(query, host))
    })
  } else if (!lower.includes(".")) {
    report.warning(
      "domain-not-host",
      start,
      end,
      `${quoted(text)} is not a complete host name: a domain must match completely`,
      {
        expected: [`${lower}.com`, `${lower}.*`],
        fix: /^[a-z0-9-]+$/.test(lower) ? report.fix("Allow any ending", start, end, `${lower}.*`) : undefined
      }
    )
  }
}

const checkUrl = (report: Report, query: Exact): void => {
  const { text, value } = query
  if (/^https?:\/\//.test(text)) return
  const { start, end } = value
  if (/^https?:\/\//i.test(text)) {
    const lower = text.replace(/^[^/]*/, (scheme) => scheme.toLowerCase())
    report.warning("keyword-case", start, end, "The scheme of an address is lower case", {
      expected: [lower],
      fix: report.fix("Write the scheme in lower case", start, end, printLike(query, lower))
    })
    return
  }
  const isHost = /^(www\.)?[a-z0-9-]+(\.[a-z0-9-]+)+\/?$/i.test(text)
  const host = text.toLowerCase().replace(/^www\.|\/$/g, "")
  const insert = isHost ? `domain:${escapeTerm(host)}` : `url:*${escapeTerm(text)}*`
  report.warning(
    "url-incomplete",
    start,
    end,
    `A url must match the whole address, from http on: ${quoted(text)} never matches`,
    {
      expected: ['url:"https://…"', "url:*part*", "domain:example.com"],
      fix:
        query.field === undefined
          ? undefined
          : report.fix(
              isHost ? "Search for the host in domain" : "Allow any text around it",
              query.span.start,
              query.span.end,
              insert
            )
    }
  )
}

const checkLanguage = (report: Report, query: Exact): void => {
  const { text, value } = query
  if (isLanguage(text)) return
  const { start, end } = value
  const codes = suggestLanguages(text)
  const [first] = codes
  const advice = { expected: first === undefined ? languages : codes, fix: languageFix(report, query, codes) }
  if (first === text.toLowerCase()) {
    report.warning("keyword-case", start, end, "Language codes are lower case", advice)
  } else {
    report.warning("unknown-language", start, end, `${quoted(text)} is not a known language code`, advice)
  }
}

const languageFix = (report: Report, query: Exact, codes: ReadonlyArray<string>): Fix | undefined => {
  const [first, ...others] = codes
  if (first === undefined) return undefined
  const { start, end } = query.value
  if (others.length === 0) return report.fix(`Write ${first}`, start, end, printLike(query, first))
  const field = report.text.slice(query.span.start, start)
  const group = `(${codes.map((code) => field + printLike(query, code)).join(" OR ")})`
  return report.fix(`Write ${group}`, query.span.start, end, group)
}

const checkLabel = (report: Report, query: Exact, field: LabelField): void => {
  const { text, value } = query
  if (isListedLabel(field, text)) return
  const { start, end } = value
  const suggestion = suggestLabel(field, text)
  if (suggestion !== undefined && suggestion !== text && suggestion.toLowerCase() === text.toLowerCase()) {
    report.warning("keyword-case", start, end, `Labels are case-sensitive: write "${suggestion}"`, {
      expected: [`"${suggestion}"`],
      fix: report.fix(`Write "${suggestion}"`, start, end, printLike(query, suggestion))
    })
    return
  }
  if (isKnownLabel(field, text)) return
  const other: LabelField = field === "page_type" ? "page_category" : "page_type"
  const otherLabel = suggestion === undefined ? suggestLabel(other, text) : undefined
  if (otherLabel !== undefined && query.field !== undefined) {
    report.warning("unknown-label", start, end, `${quoted(text)} is a label of ${other}, not of ${field}`, {
      expected: [`${other}:"${otherLabel}"`],
      fix: report.fix(`Search for it in ${other}`, query.span.start, query.span.end, `${other}:"${otherLabel}"`)
    })
    return
  }
  const near = suggestion ?? report.nearest(text.startsWith("/") ? text : `/${text}`, labelsOf(field))
  report.warning("unknown-label", start, end, `${quoted(text)} is not a known label of ${field}`, {
    expected: near === undefined ? labelsOf(field) : [`"${near}"`],
    fix: near === undefined ? undefined : report.fix(`Write "${near}"`, start, end, quotePhrase(near))
  })
}

/** Local date and time, or a prefix of one: values are compared as text. */
const dateTimePattern = /^[0-9]{4}(-[0-9]{2}(-[0-9]{2}(T[0-9]{2}(:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?)?)?)?$/

const isDateTime = (text: string): boolean => {
  if (!dateTimePattern.test(text)) return false
  const month = Number(text.slice(5, 7) || "1")
  const day = Number(text.slice(8, 10) || "1")
  const hour = Number(text.slice(11, 13) || "0")
  const minute = Number(text.slice(14, 16) || "0")
  const second = Number(text.slice(17, 19) || "0")
  const days = new Date(Date.UTC(Number(text.slice(0, 4)), month, 0)).getUTCDate()
  return month >= 1 && month <= 12 && day >= 1 && day <= days && hour <= 23 && minute <= 59 && second <= 60
}

const escapeColons = (text: string): string => text.replaceAll(":", "\\:")

const dateTimeExample = ["2025-06-15T15\\:06\\:40"]

/** True if the value is a valid date. */
const checkDateTime = (
  report: Report,
  text: string,
  start: number,
  end: number,
  write: (text: string) => string
): boolean => {
  if (isDateTime(text)) return true
  const single = text.replaceAll("\\", "")
  if (single !== text && isDateTime(single)) {
    report.error("doubled-backslash", start, end, "One backslash is enough here: only JSON needs two", {
      expected: dateTimeExample,
      fix: report.fix("Write one backslash", start, end, write(single))
    })
    return false
  }
  const local = text.replace(/(Z|[+-][0-9]{2}:?[0-9]{2})$/i, "").replace(/^([0-9-]{10})[ t]/, "$1T")
  if (local !== text && isDateTime(local)) {
    report.warning("publish-time-zone", start, end, "Publication times have no zone and are compared as text", {
      expected: dateTimeExample,
      fix: report.fix("Write the time without a zone", start, end, write(local))
    })
    return false
  }
  report.error("publish-time-format", start, end, `${quoted(text)} is not a date of the form 2025-06-15T15:06:40`, {
    expected: dateTimeExample
  })
  return false
}

const checkPublishTime = (report: Report, query: Exact, noun: Noun): void => {
  const { start, end } = query.value
  if (checkDateTime(report, query.text, start, end, quotePhrase) && query.text.length < 19) {
    const day = query.text.length === 10 ? `[${query.text}T00\\:00\\:00 TO ${query.text}T23\\:59\\:59]` : undefined
    report.warning(
      "publish-time-exact",
      start,
      end,
      `Without a range, only ${noun.many} published at exactly this time match`,
      {
        expected: ["publish_time:[2025-06-15T00\\:00\\:00 TO 2025-06-15T23\\:59\\:59]"],
        fix: day === undefined ? undefined : report.fix("Write the whole day", start, end, day)
      }
    )
  }
}

const checkRange = (report: Report, query: Range, field: KeywordFieldInfo): void => {
  const { from, to } = query
  if (field.format === "time") {
    const isFromValid =
      from === undefined || checkDateTime(report, from.text, from.span.start, from.span.end, escapeColons)
    const isToValid = to === undefined || checkDateTime(report, to.text, to.span.start, to.span.end, escapeColons)
    if (!isFromValid || !isToValid) return
  }
  if (from !== undefined && to !== undefined && !(from.text < to.text)) {
    checkOrder(report, query, from.text > to.text, from.text === to.text)
    return
  }
  if (field.format === "time" && to !== undefined && query.includesTo && to.text.length === 10) {
    report.warning(
      "publish-time-end",
      to.span.start,
      to.span.end,
      "A bare date sorts before every time of that day: the range excludes the day",
      {
        expected: [`${to.text}T23\\:59\\:59`],
        fix: report.fix("Extend the range to the end of the day", to.span.start, to.span.end, `${to.text}T23\\:59\\:59`)
      }
    )
  }
}

const checkWildcard = (report: Report, query: Wildcard, field: KeywordFieldInfo): void => {
  const { start, end } = query.value
  const first = query.parts[0]
  if (
    field.format === "domain" &&
    query.parts.some((part) => typeof part === "string" && part !== part.toLowerCase())
  ) {
    report.warning("keyword-case", start, end, "Domains are lower case", {
      fix: report.fix("Write it in lower case", start, end, report.text.slice(start, end).toLowerCase())
    })
  } else if (field.format === "url" && typeof first === "string" && !first.startsWith("h")) {
    report.warning("url-incomplete", start, end, "A url must match the whole address, which begins with http", {
      expected: ["url:*part*"],
      fix: report.fix("Allow any text before it", start, start, "*")
    })
  } else if (
    (field.format === "page_type" || field.format === "page_category") &&
    typeof first === "string" &&
    !first.startsWith("/")
  ) {
    report.warning("unknown-label", start, end, "Labels begin with a slash", {
      expected: ["\\/News*"],
      fix: report.fix("Begin with an escaped slash", start, start, "\\/")
    })
  }
}
