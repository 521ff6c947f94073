/** Checks values of keyword fields, which are compared whole and with their case. */

import { nearest } from "../nearest.ts"
import type { Group, Phrase, Query, Range, Term, Wildcard } from "./ast.ts"
import type { KeywordFieldFacts } from "./fields.ts"
import {
  isKnownLabel,
  isLanguage,
  isListedLabel,
  type LabelField,
  labelMeant,
  labelsOf,
  languageMeant,
  languages
} from "./labels.ts"
import { looseEdit } from "./loose.ts"
import { escapeTerm, quotePhrase } from "./printer.ts"
import { quoted, type Report } from "./report.ts"
import { checkOrder } from "./values.ts"

export const checkKeyword = (report: Report, query: Exclude<Query, Group>, field: KeywordFieldFacts): void => {
  switch (query._tag) {
    case "Term":
    case "Phrase":
      checkExact(report, query, field)
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

const checkExact = (report: Report, query: Exact, field: KeywordFieldFacts): void => {
  const { start, end } = query.value
  const { text } = query
  if (query._tag === "Phrase") {
    if (query.slop > 0) {
      report.warning(
        "ignored-suffix",
        end,
        query.span.end,
        `A value of "${field.name}" is compared whole: this has no effect`,
        {
          fix: report.fix("Remove it", end, query.span.end, "")
        }
      )
    }
    if (text.includes("*")) {
      const pattern = text
        .split("*")
        .map((part) => (part === "" ? "" : escapeTerm(part)))
        .join("*")
      report.warning("quoted-wildcard", start, end, 'Inside quotes "*" is an ordinary character, not a wildcard', {
        expected: [pattern],
        fix: report.fix("Write it without quotes", start, end, pattern)
      })
      return
    }
  }
  switch (field.name) {
    case "domain":
      checkDomain(report, query)
      return
    case "url":
      checkUrl(report, query)
      return
    case "language":
      checkLanguage(report, query)
      return
    case "page_type":
    case "page_category":
      checkLabel(report, query, field.name)
      return
    case "publish_time":
      checkMoment(report, query)
      return
    default:
      return
  }
}

/** The value again in the quotes, or the lack of them, that it was written with. */
const like = (query: Exact, text: string): string => (query._tag === "Phrase" ? quotePhrase(text) : escapeTerm(text))

const checkDomain = (report: Report, query: Exact): void => {
  const { text, value } = query
  const { start, end } = value
  if (/[/:\s]/.test(text)) {
    const edit = looseEdit(query.field, undefined, text)
    report.warning("domain-not-host", start, end, `A domain is a host name alone: no page has ${quoted(text)}`, {
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
    report.warning(
      "keyword-case",
      start,
      end,
      `Domains are held in lower case and compared with it: ${quoted(text)} fits none`,
      {
        expected: [lower],
        fix: report.fix("Write it in lower case", start, end, like(query, lower))
      }
    )
  }
  if (lower.startsWith("www.") && lower.length > 4) {
    const host = lower.slice(4)
    report.warning("domain-www", start, end, `Domains are held without "www."`, {
      expected: [host],
      fix: report.fix('Leave "www." out', start, end, like(query, host))
    })
  } else if (!lower.includes(".")) {
    report.warning(
      "domain-not-host",
      start,
      end,
      `${quoted(text)} is no whole host name, and domains are compared whole`,
      {
        expected: [`${lower}.com`, `${lower}.*`],
        fix: /^[a-z0-9-]+$/.test(lower) ? report.fix("Allow any ending", start, end, `${lower}.*`) : undefined
      }
    )
  }
}

const checkUrl = (report: Report, query: Exact): void => {
  const { text, value } = query
  if (/^https?:\/\//.test(text)) {
    return
  }
  const { start, end } = value
  if (/^https?:\/\//i.test(text)) {
    const lower = text.replace(/^[^/]*/, (scheme) => scheme.toLowerCase())
    report.warning("keyword-case", start, end, "The scheme of an address is held in lower case and compared with it", {
      expected: [lower],
      fix: report.fix("Write the scheme in lower case", start, end, like(query, lower))
    })
    return
  }
  const isHost = /^(www\.)?[a-z0-9-]+(\.[a-z0-9-]+)+\/?$/i.test(text)
  const insert = isHost
    ? `domain:${escapeTerm(
        text
          .toLowerCase()
          .replace(/^www\./, "")
          .replace(/\/$/, "")
      )}`
    : `url:*${text === "" ? "" : escapeTerm(text)}*`
  report.warning(
    "url-incomplete",
    start,
    end,
    `An address is compared whole, from http to its end: ${quoted(text)} fits none`,
    {
      expected: ['url:"https://…"', "url:*part*", "domain:example.com"],
      fix:
        query.field === undefined
          ? undefined
          : report.fix(
              isHost ? "Look the host up in domain" : "Allow any text around it",
              query.span.start,
              query.span.end,
              insert
            )
    }
  )
}

const checkLanguage = (report: Report, query: Exact): void => {
  const { text, value } = query
  if (isLanguage(text)) {
    return
  }
  const { start, end } = value
  const meant = languageMeant(text)
  if (meant !== undefined && meant === text.toLowerCase()) {
    report.warning("keyword-case", start, end, "Language codes are held in lower case and compared with it", {
      expected: [meant],
      fix: report.fix(`Write ${meant}`, start, end, like(query, meant))
    })
    return
  }
  report.warning("unknown-language", start, end, `${quoted(text)} is no language code that pages carry`, {
    expected: meant === undefined ? languages : [meant],
    fix: meant === undefined ? undefined : report.fix(`Write ${meant}`, start, end, like(query, meant))
  })
}

const checkLabel = (report: Report, query: Exact, field: LabelField): void => {
  const { text, value } = query
  if (isListedLabel(field, text)) {
    return
  }
  const { start, end } = value
  const meant = labelMeant(field, text)
  if (isKnownLabel(field, text)) {
    if (meant !== undefined && meant !== text && meant.toLowerCase() === text.toLowerCase()) {
      labelCase(report, query, meant)
    }
    return
  }
  if (meant !== undefined && meant.toLowerCase() === text.toLowerCase()) {
    labelCase(report, query, meant)
    return
  }
  const other: LabelField = field === "page_type" ? "page_category" : "page_type"
  const elsewhere = meant === undefined ? labelMeant(other, text) : undefined
  if (elsewhere !== undefined && query.field !== undefined) {
    report.warning("unknown-label", start, end, `${quoted(text)} is a label of ${other}, not of ${field}`, {
      expected: [`${other}:"${elsewhere}"`],
      fix: report.fix(`Look it up in ${other}`, query.span.start, query.span.end, `${other}:"${elsewhere}"`)
    })
    return
  }
  const near = meant ?? nearest(text.startsWith("/") ? text : `/${text}`, labelsOf(field))
  report.warning("unknown-label", start, end, `No page carries the label ${quoted(text)} in ${field}`, {
    expected: near === undefined ? labelsOf(field) : [`"${near}"`],
    fix: near === undefined ? undefined : report.fix(`Write "${near}"`, start, end, quotePhrase(near))
  })
}

const labelCase = (report: Report, query: Exact, meant: string): void => {
  const { start, end } = query.value
  report.warning("keyword-case", start, end, `Labels are compared with their case: it is "${meant}"`, {
    expected: [`"${meant}"`],
    fix: report.fix(`Write "${meant}"`, start, end, like(query, meant))
  })
}

/** Local date and time, or the head of one: values are compared as text. */
const momentPattern = /^[0-9]{4}(-[0-9]{2}(-[0-9]{2}(T[0-9]{2}(:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?)?)?)?$/

const isMoment = (text: string): boolean => {
  if (!momentPattern.test(text)) {
    return false
  }
  const month = Number(text.slice(5, 7) || "1")
  const day = Number(text.slice(8, 10) || "1")
  const hour = Number(text.slice(11, 13) || "0")
  const minute = Number(text.slice(14, 16) || "0")
  const second = Number(text.slice(17, 19) || "0")
  const days = new Date(Date.UTC(Number(text.slice(0, 4)), month, 0)).getUTCDate()
  return month >= 1 && month <= 12 && day >= 1 && day <= days && hour <= 23 && minute <= 59 && second <= 60
}

const escapeColons = (text: string): string => text.replaceAll(":", "\\:")

const momentExpected = ["2025-06-15T15\\:06\\:40"]

/** True when the value is a date that pages can be compared with. */
const momentIn = (
  report: Report,
  text: string,
  start: number,
  end: number,
  write: (text: string) => string
): boolean => {
  if (isMoment(text)) {
    return true
  }
  const single = text.replaceAll("\\", "")
  if (single !== text && isMoment(single)) {
    report.error("doubled-backslash", start, end, "One backslash is enough here: only JSON doubles it", {
      expected: momentExpected,
      fix: report.fix("Write one backslash", start, end, write(single))
    })
    return false
  }
  const local = text.replace(/(Z|[+-][0-9]{2}:?[0-9]{2})$/i, "").replace(/^([0-9-]{10})[ t]/, "$1T")
  if (local !== text && isMoment(local)) {
    report.warning("publish-time-zone", start, end, "Times of publication carry no zone and are compared as text", {
      expected: momentExpected,
      fix: report.fix("Write the time without a zone", start, end, write(local))
    })
    return false
  }
  report.error("publish-time-format", start, end, `${quoted(text)} is no date of the form 2025-06-15T15:06:40`, {
    expected: momentExpected
  })
  return false
}

const checkMoment = (report: Report, query: Exact): void => {
  const { start, end } = query.value
  if (momentIn(report, query.text, start, end, quotePhrase) && query.text.length < 19) {
    const day = query.text.length === 10 ? `[${query.text}T00\\:00\\:00 TO ${query.text}T23\\:59\\:59]` : undefined
    report.warning("publish-time-exact", start, end, "Without a range only pages published at this very moment match", {
      expected: ["publish_time:[2025-06-15T00\\:00\\:00 TO 2025-06-15T23\\:59\\:59]"],
      fix: day === undefined ? undefined : report.fix("Write the whole day", start, end, day)
    })
  }
}

const checkRange = (report: Report, query: Range, field: KeywordFieldFacts): void => {
  const { from, to } = query
  if (field.name === "publish_time") {
    const isFrom = from === undefined || momentIn(report, from.text, from.span.start, from.span.end, escapeColons)
    const isTo = to === undefined || momentIn(report, to.text, to.span.start, to.span.end, escapeColons)
    if (!isFrom || !isTo) {
      return
    }
  }
  if (from !== undefined && to !== undefined && !(from.text < to.text)) {
    checkOrder(report, query, from.text > to.text, from.text === to.text)
    return
  }
  if (field.name === "publish_time" && to !== undefined && query.includesTo && to.text.length === 10) {
    report.warning(
      "publish-time-end",
      to.span.start,
      to.span.end,
      "As text every time of that day comes after the bare date: the day itself is left out",
      {
        expected: [`${to.text}T23\\:59\\:59`],
        fix: report.fix("Go to the end of the day", to.span.start, to.span.end, `${to.text}T23\\:59\\:59`)
      }
    )
  }
}

const checkWildcard = (report: Report, query: Wildcard, field: KeywordFieldFacts): void => {
  const { start, end } = query.value
  const first = query.parts[0]
  if (field.name === "domain" && query.parts.some((part) => typeof part === "string" && part !== part.toLowerCase())) {
    report.warning("keyword-case", start, end, "Domains are held in lower case and compared with it", {
      fix: report.fix("Write it in lower case", start, end, report.text.slice(start, end).toLowerCase())
    })
  } else if (field.name === "url" && typeof first === "string" && !first.startsWith("h")) {
    report.warning("url-incomplete", start, end, "An address is compared whole, and it begins with http", {
      expected: ["url:*part*"],
      fix: report.fix("Allow any text before it", start, start, "*")
    })
  } else if (
    (field.name === "page_type" || field.name === "page_category") &&
    typeof first === "string" &&
    !first.startsWith("/")
  ) {
    report.warning("unknown-label", start, end, "Labels begin with a slash", {
      expected: ["\\/News*"],
      fix: report.fix("Begin with an escaped slash", start, start, "\\/")
    })
  }
}
