/** Checks the fields, values and operators of a parsed rule. */
import { codePointName } from "../../text/codePointName.ts"
import type { Turns } from "../../work/turns.ts"
import type { Report } from "../issues/Report.ts"
import { Budget, nfaLimits } from "../regex/nfa.ts"
import type { FieldRef, Group, Query } from "./ast.ts"
import { costOf, costOfPhrase } from "./cost.ts"
import type { Field, FieldSet, Form } from "./fieldSet.ts"
import { limits } from "./fields.ts"
import { checkGroup, checkRecentPlacement, withoutClause } from "./groups.ts"
import { checkKeyword } from "./keywords.ts"
import { quotePhrase } from "./printer.ts"
import { quoted } from "./quoted.ts"
import { checkNumber, checkPattern, checkText, rejectRecentValue, type SplitTerm, warnSplit } from "./values.ts"

/**
 * After a syntax error it skips the checks of groups and `recent:`, which would report consequences of the error. Returns
 * whether the check was cheap enough to check many variants of the rule. `maxLength` is the limit for advised texts.
 */
export function* checkRuleInTurns(
  report: Report,
  ast: Group,
  { fields, maxLength }: { readonly fields: FieldSet; readonly maxLength: number }
): Turns<boolean> {
  checkCharacters(report)
  const parsed = report.errors === 0
  const budget = new Budget()
  if (parsed && ast.clauses.length === 0 && ast.dropped.length === 0) {
    report.error("empty-rule", 0, report.text.length, "The rule is empty", {
      expected: ["a word", "a phrase", "a field"]
    })
    return true
  }
  const state: Walk = { report, fields, budget, parsed, maxLength, splitTerms: [], recents: 0 }
  yield* walk(state, ast, fields.default, 0)
  for (const term of state.splitTerms) {
    warnSplit(report, term, canQuote(state, term))
  }
  return budget.isCheap
}

// ---- helpers ----

interface Walk {
  readonly report: Report
  readonly fields: FieldSet
  /** Shared by all patterns of the rule. */
  readonly budget: Budget
  readonly parsed: boolean
  readonly maxLength: number
  /** Reported at the end, when the cost of the rule is known. */
  readonly splitTerms: Array<SplitTerm>
  recents: number
}

/** The rule stays within its limits if this text is put in quotes. */
const canQuote = (
  { report, budget, maxLength }: Walk,
  { text, span, field }: Pick<SplitTerm, "text" | "span"> & { readonly field: Field | undefined }
): boolean => {
  const length = report.text.length - (span.end - span.start) + quotePhrase(text).length
  const cost = field === undefined ? 0 : costOfPhrase({ text, slop: 0 }, field)
  return length <= maxLength && budget.canSpendActive(cost)
}

function* walk(state: Walk, group: Group, field: Field | undefined, depth: number): Turns<void> {
  const { report, fields } = state
  for (let index = 0; index < group.clauses.length; index++) {
    const clause = group.clauses[index]
    if (clause === undefined) continue
    const { query } = clause
    const own = query.field === undefined ? field : fields.of(query.field.name)
    if (query.field !== undefined && own === undefined) {
      unknownField(state, group, query, query.field, field)
      continue
    }
    if (query._tag === "Group") {
      if (own?.kind === "filter") {
        rejectRecentValue(report, query)
      } else {
        yield* walk(state, query, own, depth + 1)
      }
      continue
    }
    if (query._tag === "Recent") {
      state.recents++
      if (state.parsed) {
        checkRecentPlacement(report, group, index, depth, state.recents)
      }
      continue
    }
    yield* checkValue(state, query, own)
  }
  for (const { query } of group.dropped) {
    if (query._tag === "Group") {
      yield* walk(state, query, query.field === undefined ? field : fields.of(query.field.name), depth + 1)
    }
  }
  if (state.parsed) {
    checkGroup(report, group, { field, noun: fields.noun, isTop: depth === 0 })
  }
}

function* checkValue(
  { report, fields, budget, splitTerms }: Walk,
  query: Exclude<Query, Group>,
  field: Field | undefined
): Turns<void> {
  if (report.hasErrorIn(query.value.start, query.value.end)) return
  if (query._tag === "Wildcard" && query.parts.length > limits.maxWildcards) {
    const count = query.parts.filter((part) => typeof part !== "string").length
    if (count > limits.maxWildcards) {
      report.error(
        "too-many-wildcards",
        query.value.start,
        query.value.end,
        `A word has at most ${limits.maxWildcards} wildcards, this one has ${count}: use fewer`
      )
    }
  }
  if (query._tag === "Phrase" && query.text.trim() === "") {
    report.error("empty-phrase", query.value.start, query.value.end, "These quotes are empty", {
      expected: ["a word"]
    })
    return
  }
  if (query._tag === "Everything" || field === undefined) return
  if (field.kind === "filter") {
    rejectRecentValue(report, query)
    return
  }
  const form = formByTag[query._tag]
  if (form !== undefined && !field.forms.includes(form) && !isAnyValue(query)) {
    report.error(
      "wrong-form",
      query.value.start,
      query.value.end,
      `"${field.name}" does not support a ${form}: it holds ${field.kind === "text" ? "words, which have no order" : "a number"}`,
      { expected: field.forms.map((each) => `a ${each}`) }
    )
    return
  }
  if (query._tag === "Regex" && field.kind !== "number") {
    yield* checkPattern(report, budget, query, field)
    return
  }
  if (budget.spendActive(costOf(query, field))) {
    report.error(
      "too-much-work",
      query.value.start,
      query.value.end,
      `The rule takes too much work per event (at least ${budget.usedActive} units, at most ${nfaLimits.maxActive} are allowed): use fewer fuzzy words, wildcards and long or sloppy phrases, or split it into several rules`
    )
  }
  switch (field.kind) {
    case "text":
      checkText(report, query, field, splitTerms)
      return
    case "keyword":
      checkKeyword(report, query, field, fields.noun)
      return
    case "number":
      checkNumber(report, query, field)
  }
}

const formByTag: Partial<Record<Query["_tag"], Form>> = {
  Term: "term",
  Phrase: "phrase",
  Wildcard: "wildcard",
  Fuzzy: "fuzzy",
  Regex: "regex",
  Range: "range"
}

/** `field:*` is valid for every kind of field: it matches any value. */
const isAnyValue = (query: Query): boolean =>
  query._tag === "Wildcard" && query.parts.length === 1 && typeof query.parts[0] !== "string"

const unknownField = (state: Walk, group: Group, query: Query, ref: FieldRef, outer: Field | undefined): void => {
  const { report, fields } = state
  const { start, end } = ref.span
  const known = fields.misnamed(ref.name)
  if (known?.use !== undefined) {
    report.error("unknown-field", start, end, `There is no field ${quoted(ref.name)}: it is called "${known.use}"`, {
      expected: [known.use],
      fix: report.fix(`Write ${known.use}`, start, end, known.use)
    })
    return
  }
  if (known?.why !== undefined) {
    const isOption = known.isRuleOption === true
    report.error(
      isOption ? "rule-option" : "unknown-field",
      start,
      end,
      isOption
        ? `"${ref.name}" cannot be used in a query. ${known.why}`
        : `There is no field ${quoted(ref.name)}. ${known.why}`,
      isOption ? { fix: withoutClause(report, group, query, `Remove "${ref.name}"`) } : undefined
    )
    return
  }
  const near = report.nearest(ref.name, fields.names)
  if (near !== undefined) {
    report.error("unknown-field", start, end, `There is no field ${quoted(ref.name)}: did you mean "${near}"?`, {
      expected: [near],
      fix: report.fix(`Write ${near}`, start, end, near)
    })
    return
  }
  const { span } = query
  const text = report.textOf(span).replace(/\\(.)/g, "$1")
  const isWord = query._tag === "Term" && query.value.start === ref.span.end + 1
  const isAllowed = canQuote(state, { text, span, field: outer })
  const advice = `${isAllowed ? "" : "shorten the rule and "}put it in double quotes`
  const message = `There is no field ${quoted(ref.name)}; to search for the text itself, ${advice}`
  report.error("unknown-field", start, end, message, {
    expected: fields.names,
    fix: isWord && isAllowed ? report.fix("Search for it as text", span.start, span.end, quotePhrase(text)) : undefined
  })
}

/** Reports invisible characters, which change the meaning of a rule, and lone surrogates, which cannot be sent. */
const checkCharacters = (report: Report): void => {
  const { text } = report
  let isReported = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 32 && code < 127) continue
    if (code >= 0xd800 && code <= 0xdfff) {
      if (code < 0xdc00) {
        const next = text.charCodeAt(at + 1)
        if (next >= 0xdc00 && next <= 0xdfff) {
          at++
          continue
        }
      }
      report.error("lone-surrogate", at, at + 1, "This is half of a surrogate pair and cannot be sent", {
        fix: { message: "Remove the broken characters", text: text.replace(loneSurrogates, "") }
      })
      return
    }
    if (!isReported && isInvisible(code)) {
      isReported = true
      report.warning("invisible-character", at, at + 1, `This is an invisible character (${codePointName(code)})`, {
        fix: { message: "Remove the invisible characters", text: text.replace(invisibles, "") }
      })
    }
  }
}

/** Control characters, zero-width spaces and direction marks. Joiners are allowed: scripts and emoji need them. */
const isInvisible = (code: number): boolean =>
  code < 32
    ? code !== 9 && code !== 10 && code !== 13
    : (code >= 0x7f && code < 0xa0) ||
      code === 0xad ||
      code === 0x200b ||
      code === 0x200e ||
      code === 0x200f ||
      (code >= 0x202a && code <= 0x202e) ||
      (code >= 0x2060 && code <= 0x2069) ||
      code === 0xfeff

const invisibles = /[\p{Cc}\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu
const loneSurrogates = /\p{Surrogate}/gu
