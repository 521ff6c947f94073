/** The page `/docs`: the OpenAPI document for readers. The script of the page only adds comfort. */
import { Effect } from "effect"
import { inTurns, type Turns } from "../../core/work/turns.ts"
import type { DocsPage } from "../http/docs.ts"
import { fieldList, fieldsOf, type Known, nameOf } from "./fieldsHtml.ts"
import { type Content, type Html, html, prose } from "./html.ts"
import type { Document, Entry, Media, Operation, Response } from "./parts.ts"
import { SCRIPT } from "./pageScript.ts"
import { STYLE } from "./pageStyle.ts"
import { curl, figure, JSON_TYPE, OPERATOR, ORIGIN, samples } from "./samplesHtml.ts"

/** `scopes`: what a key needs, by method and path, such as `GET /matches`. */
export const page = (document: object, scopes: ReadonlyMap<string, string>): Effect.Effect<DocsPage> =>
  Effect.gen(function* () {
    const [script, style] = yield* Effect.all([hashOf(SCRIPT.text), hashOf(STYLE.text)])
    return {
      // The parts of the document that the page reads are as `document.ts` makes them.
      html: yield* inTurns(pageOf(document as Document, scopes)),
      // The script and the style of the page, and nothing else.
      policy: `default-src 'none'; script-src '${script}'; style-src '${style}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
    }
  })

// ---- helpers ----

/** Yields after each operation, message, error and schema. */
function* pageOf(document: Document, scopes: ReadonlyMap<string, string>): Turns<string> {
  const { info, tags, paths, webhooks, components } = document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Entry => {
      const at = `${method.toUpperCase()} ${path}`
      return { method: method.toUpperCase(), path, operation, scope: scopes.get(at) ?? OPERATOR }
    })
  )
  const messages = Object.entries(webhooks).map(
    ([path, { post }]): Entry => ({ method: "POST", path, operation: post })
  )
  const links = new Map(operations.map(({ method, path, operation }) => [`${method} ${path}`, operation.operationId]))
  const reference: Reference = { schemas: components.schemas, links, components }
  const groups = [
    ...tags.map(({ name, description }) => ({
      id: `tag-${name}`,
      title: name.charAt(0).toUpperCase() + name.slice(1),
      description,
      entries: operations.filter(({ operation }) => operation.tags.includes(name))
    })),
    {
      id: "messages",
      title: "Messages",
      description: "What Earshot sends to webhooks and subscriptions",
      entries: messages
    }
  ]
  const sections: Array<Html> = []
  for (const { id, title, description, entries } of groups) {
    sections.push(html`<div class="group" id="${id}"><h2>${title}</h2>${prose(description, links)}</div>`)
    for (const entry of entries) {
      sections.push(section(entry, reference))
      yield
    }
  }
  const errors: Array<Html> = []
  for (const [name, { description, headers, content }] of Object.entries(components.responses)) {
    errors.push(
      html`<details><summary><code>${statusOf(name, operations)}</code> ${name}</summary><div id="response-${name}">${prose(description, links)}${headerFields(headers, reference)}${samples(content, "Example")}</div></details>`
    )
    yield
  }
  const schemas: Array<Html> = []
  for (const [name, schema] of Object.entries(components.schemas)) {
    schemas.push(
      html`<details><summary>${name}</summary>${(schema.properties ?? schema.oneOf) !== undefined && prose(schema.description, links)}<div id="schema-${name}">${fieldsOf(schema, reference)}</div></details>`
    )
    yield
  }
  const shared = Object.entries(operations[0]?.operation.responses["200"]?.headers ?? {}).flatMap(([name, { $ref }]) =>
    $ref === undefined ? [] : { name, description: components.headers[nameOf($ref)]?.description }
  )
  return frame({
    title: `${info.title} API`,
    nav: html`${groups.map(({ id, title, entries }) => navGroup(id, title, entries))}<div><ul><li><a href="#errors">Errors</a></li><li><a href="#schemas">Schemas</a></li></ul></div>`,
    main: html`<header id="top"><h1>${info.title} API</h1>${prose(info.description, links)}
<dl class="facts-list">
<div><dt>Base address</dt><dd><code data-origin>${ORIGIN}</code></dd></div>
<div><dt>Authentication</dt><dd>${prose(components.securitySchemes.apiKey.description, links)}</dd></div>
<div><dt>OpenAPI document</dt><dd><p><a href="/openapi.json">/openapi.json</a>, version ${info.version}</p></dd></div>
${shared.map(({ name, description }) => html`<div><dt>Header of every response</dt><dd><p><code>${name}</code></p>${prose(description, links)}</dd></div>`)}
</dl></header>
${sections}
<div class="group" id="errors"><h2>Errors</h2>${fieldsOf({ $ref: "#/components/schemas/Error" }, reference)}<div class="list">${errors}</div></div>
<div class="group" id="schemas"><h2>Schemas</h2><div class="list">${schemas}</div></div>`
  }).text
}

interface Reference extends Known {
  readonly components: Document["components"]
}

const section = (entry: Entry, reference: Reference): Html => {
  const { method, path, scope, operation } = entry
  const { operationId: id, summary, description, parameters = [], requestBody, responses } = operation
  const [headers, others] = [
    parameters.filter((one) => one.in === "header"),
    parameters.filter((one) => one.in !== "header")
  ]
  const errors = errorsOf(responses)
  return html`<section class="entry" id="${id}" aria-labelledby="${id}-title"><div>
<h3 id="${id}-title"><a href="#${id}">${summary}</a></h3>
<p class="at"><span class="method ${method}">${method}</span> <code>${path}</code>${scope !== undefined && html` <span class="scope">${scope === OPERATOR ? "key of the" : "scope"} <b>${scope}</b></span>`}</p>
${prose(description, reference.links)}
${others.length > 0 && html`<h4>Query parameters</h4><div class="sent">${fieldList(others, reference)}</div>`}
${Object.entries(requestBody?.content ?? {}).map(([type, media]) => html`<h4>Body ${kindOf(type)}</h4><div class="sent">${body(media, reference)}</div>`)}
${headers.length > 0 && html`<h4>Headers</h4><div class="sent">${fieldList(headers, reference)}</div>`}
${Object.entries(responses)
  .filter(([, { $ref }]) => $ref === undefined)
  .map(([status, one]) => html`<h4>Response <code>${status}</code> ${one.description}</h4>${answer(one, reference)}`)}
${errors.length > 0 && html`<p class="errors">Errors${errors.map(([status, name]) => html` <a href="#response-${name}">${status}</a>`)}</p>`}
</div><div class="samples">${scope === undefined ? samples(requestBody?.content, "Body") : figure(html`<span>Request</span>`, curl(entry))}${samples(responses["200"]?.content, "Response")}</div></section>
`
}

const body = ({ schema, ...media }: Media, reference: Reference): Content => {
  const item = media["x-itemSchema"]
  return [fieldsOf(schema, reference), item !== undefined && fieldsOf(item, reference)]
}

const answer = ({ headers, content = {} }: Response, reference: Reference): Content => [
  Object.entries(content).map(([type, media]) => [
    type !== JSON_TYPE && html`<p class="facts">${kindOf(type)}</p>`,
    body(media, reference)
  ]),
  headerFields(headers, reference)
]

/** Without those that every response has, which are references. */
const headerFields = (headers: Response["headers"] = {}, reference: Reference): Content => {
  const fields = Object.entries(headers).flatMap(([name, one]) => (one.$ref === undefined ? { name, ...one } : []))
  const names = fields.map(({ name }, index) => html`${index > 0 && ", "}<code>${name}</code>`)
  return (
    fields.length > 0 && html`<details><summary>Headers ${names}</summary>${fieldList(fields, reference)}</details>`
  )
}

/** By status. The default is one of them. */
const errorsOf = (responses: Operation["responses"]) =>
  Object.entries(responses).flatMap(([status, { $ref }]) =>
    $ref === undefined || status === "default" ? [] : [[status, nameOf($ref)] as const]
  )

const statusOf = (response: string, operations: ReadonlyArray<Entry>): string | undefined =>
  operations.flatMap(({ operation }) => errorsOf(operation.responses)).find(([, name]) => name === response)?.[0]

const kindOf = (type: string): Content => type !== JSON_TYPE && html`<code>${type}</code>`

const navGroup = (id: string, title: string, entries: ReadonlyArray<Entry>): Html =>
  html`<div><a class="title" href="#${id}">${title}</a><ul>${entries.map(({ method, scope, operation: { operationId, summary } }) => html`<li><a href="#${operationId}">${summary}${scope !== undefined && html`<span class="method ${method}">${method}</span>`}</a></li>`)}</ul></div>`

const MARK = html`<svg viewBox="0 0 22 24" width="20" height="22" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2.4" stroke-linecap="round"><circle cx="6" cy="12" r="2.6" fill="currentColor" stroke="none"/><path d="M11 6.5a8 8 0 0 1 0 11M15 3.5a12.5 12.5 0 0 1 0 17"/></svg>`

const HALF = html`<svg viewBox="0 0 24 24" width="16" height="16" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.8"><circle cx="12" cy="12" r="8"/><path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor"/></svg>`

const frame = ({ title, nav, main }: { readonly title: string; readonly nav: Html; readonly main: Html }): Html =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="description" content="Every operation of this Earshot server"><title>${title}</title><link rel="icon" href="data:,"><style>${STYLE}</style><script>${SCRIPT}</script></head>
<body><a class="skip" href="#content">Skip to the operations</a>
<header class="bar"><a class="brand" href="#top">${MARK}${title}</a><button type="button" popovertarget="menu">Operations</button></header>
<aside id="menu" popover><a class="brand" href="#top">${MARK}${title}</a>
<div class="search"><input id="search" type="search" placeholder="Search operations" aria-label="Search operations" aria-keyshortcuts="/" autocomplete="off" spellcheck="false"><kbd aria-hidden="true">/</kbd></div><p id="found" role="status"></p>
<nav aria-label="Operations">${nav}</nav>
<button type="button" id="theme">${HALF} Light or dark</button></aside>
<main id="content" tabindex="-1">${main}</main></body></html>
`

const hashOf = (text: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))),
    (digest) => `sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}`
  )
