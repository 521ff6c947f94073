import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Either, Schema } from "effect"
import fc from "fast-check"
import { bluesky } from "../../../../core/languages/bluesky.ts"
import { firehose } from "../../../../core/languages/firehose.ts"
import { x } from "../../../../core/languages/x.ts"
import { helpFor } from "../../../../core/platforms/syntaxHelp.ts"
import { operators } from "../../../../core/syntax/bluesky/operators.ts"
import { evaluate } from "../../../../core/syntax/expression/evaluate.ts"
import { isTarget } from "../../../../core/syntax/translation/translate.ts"
import { operators as operatorsOfX } from "../../../../core/syntax/x/operators.ts"
import { ROOT } from "../../../program.ts"
import { translate, translateWithWitnesses } from "../translation/translate.ts"

const DID = "did:plc:z72i7hdynmk6r22z27h6tvur"
const OTHER = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"

const URI = `at://${OTHER}/app.bsky.feed.post/3l6oveex3ii2l`

const post = (record: object, handles?: object) => ({
  did: DID,
  time_us: 1_779_719_009_157_119,
  commit: { operation: "create", collection: "app.bsky.feed.post", rkey: "3l7", record: { text: "", ...record } },
  ...(handles !== undefined && { handles })
})

const facet = (feature: object) => ({ facets: [{ index: { byteStart: 0, byteEnd: 1 }, features: [feature] }] })

const errorsOf = (text: string) =>
  bluesky.check(text).issues.flatMap(({ severity, message }) => (severity === "error" ? [message] : []))

const matches = (text: string, record: unknown): boolean => {
  const expression = bluesky.check(text).rule?.expression ?? assert.fail(`${text}: ${errorsOf(text)}`)
  return evaluate(
    expression,
    Either.getOrThrowWith(bluesky.events.read(record, 0), (reason) => new Error(reason))
  )
}

describe("the help of bluesky", () => {
  const help = helpFor(bluesky, {})

  it("has valid examples and mistakes, on a page of at most 12 kB", () => {
    for (const { name, example } of help.operators) assert.deepStrictEqual(bluesky.check(example).issues, [], name)
    for (const { rule } of help.examples) assert.deepStrictEqual(bluesky.check(rule).issues, [], rule)
    for (const { wrong, right } of bluesky.help.mistakes) {
      assert.isAbove(bluesky.check(wrong).issues.length, 0, wrong)
      assert.deepStrictEqual(bluesky.check(right).issues, [], right)
    }
    assert.isAtMost(new TextEncoder().encode(help.syntax).length, 12_288)
    for (const { name } of operators) assert.include(help.syntax, `${name}:`)
    assert.notMatch(help.syntax, /undefined|\[object|NaN/)
  })

  it("has an example event that its filters can match", () => {
    const event: unknown = JSON.parse(/^`(\{.*\})`$/m.exec(help.syntax)?.[1] ?? "")
    assert.isTrue(Schema.is(bluesky.events.schema)(event))
    assert.isTrue(matches("comet #astronomy lang:en from:nasa.gov", event))
  })
})

describe("bluesky.check", () => {
  it.each([
    ["cat -dog", post({ text: "A Cat" }), post({ text: "cat dog" })],
    ["#Moon", post(facet({ tag: "moon" })), post({ text: "#moon" })],
    ["#moon", post({ tags: ["Moon"] }), post({ tags: [7] })],
    ["@nasa.gov", post(facet({ did: OTHER }), { [OTHER]: "nasa.gov" }), post({ text: "@nasa.gov" })],
    [`mentions:${OTHER} has:mentions`, post(facet({ did: OTHER })), post({})],
    [`from:${DID}`, post({}), { ...post({}), did: OTHER }],
    ["from:NASA.gov", post({}, { [DID]: "nasa.gov" }), post({}, { [OTHER]: "nasa.gov" })],
    [`to:${OTHER} is:reply`, post({ reply: { parent: { uri: URI } } }), post({ reply: { root: { uri: URI } } })],
    ["url:example", post(facet({ uri: "https://www.example.com/a" })), post({ text: "example" })],
    ['url_contains:"/a?b"', post({ embed: { external: { uri: "https://e.com/A?b=1" } } }), post({})],
    [
      "domain:example.com",
      post(facet({ uri: "https://news.example.com:8080/" })),
      post(facet({ uri: "https://example.com.evil.org/" }))
    ],
    ['url_title:"big news"', post({ embed: { external: { title: "Big news" } } }), post({ text: "big news" })],
    ["url_description:cat", post({ embed: { media: { external: { description: "A cat" } } } }), post({})],
    [`conversation_id:${URI}`, post({ reply: { root: { uri: URI } } }), post({ reply: { parent: { uri: URI } } })],
    [`conversation_id:at://${DID}/app.bsky.feed.post/3l7`, post({}), post({ reply: { root: { uri: URI } } })],
    [
      `in_reply_to:https://bsky.app/profile/${OTHER}/post/3l6oveex3ii2l`,
      post({ reply: { parent: { uri: URI } } }),
      post({})
    ],
    [`quotes:${URI}`, post({ embed: { record: { uri: URI } } }), post({ embed: { record: { uri: `${URI}x` } } })],
    [`quotes:${OTHER}`, post({ embed: { record: { record: { uri: URI } }, media: {} } }), post({})],
    ["x is:quote", post({ text: "x", embed: { record: { uri: URI } } }), post({ text: "x" })],
    ["x lang:pt", post({ text: "x", langs: ["en", "pt-BR"] }), post({ text: "x", langs: "pt" })],
    ["x lang:he", post({ text: "x", langs: ["iw"] }), post({ text: "x", langs: ["hex"] })],
    ["x has:images", post({ text: "x", embed: { images: [{}] } }), post({ text: "x", embed: { images: [] } })],
    ["x has:media -has:images", post({ text: "x", embed: { media: { video: {} } } }), post({ text: "x" })],
    ["x has:video_link has:images", post({ text: "x", embed: { items: [{ image: {} }, { video: {} }] } }), post({})],
    ['alt:"bar chart" has:alt', post({ embed: { images: [{ alt: "A bar chart" }] } }), post({ text: "bar chart" })],
    ["x has:links", post({ text: "x", embed: { external: { uri: "https://a.b" } } }), post({ text: "x https://a.b" })],
    ["$TSLA", post({ text: "buy $tsla" }), post({ text: "tsla" })],
    ["x label:porn", post({ text: "x", labels: { values: [{ val: "porn" }] } }), post({ text: "x", labels: {} })]
  ])("%s matches as its operators say", (text, match, miss) => {
    assert.isTrue(matches(text, match), JSON.stringify(match))
    assert.isFalse(matches(text, miss), JSON.stringify(miss))
    const { canonical } = bluesky.check(text).rule ?? assert.fail(text)
    assert.strictEqual(bluesky.check(canonical).rule?.canonical, canonical)
  })

  it("refuses every operator of X that a post cannot answer, with the reason", () => {
    const own = new Set(operators.map(({ name }) => name))
    for (const { name, aliases, examples } of operatorsOfX) {
      if (own.has(name) || name === "in_reply_to_tweet_id") continue
      for (const one of [name, ...aliases]) {
        const [message] = errorsOf(examples[0]?.replace(`${name}:`, `${one}:`) ?? "")
        assert.match(message ?? "", new RegExp(`^"${one}:" is not available here: .{15}`), one)
      }
    }
    assert.include(errorsOf("x is:retweet")[0], "reposts are not part of the stream")
    assert.include(errorsOf("x has:geo")[0], "posts have no location")
  })

  it("offers to leave out what excludes nothing", () => {
    const [issue] = bluesky.check("nasa -is:retweet").issues
    assert.deepInclude(issue?.span, { start: 5, end: 16 })
    const fixed = (text: string) => bluesky.check(text).issues[0]?.fix?.text
    assert.strictEqual(fixed("nasa -is:retweet"), "nasa")
    assert.strictEqual(fixed("nasa (-has:geo -is:reply)"), "nasa (-is:reply)")
    assert.isUndefined(fixed("nasa is:retweet"))
    assert.isUndefined(fixed("nasa -is:verified"))
    assert.isUndefined(fixed("nasa OR -is:retweet"))
  })

  it.each([
    "from:nasa",
    "from:me",
    "@nasa",
    "domain:https://a.com",
    "conversation_id:1",
    "x lang:english",
    "x label:1"
  ])("refuses %s and says what the operator takes", (text) => assert.match(errorsOf(text)[0] ?? "", / takes /))
})

describe("the events of bluesky", () => {
  const lines = (name: string) =>
    readFileSync(join(ROOT, "test/adapters/bluesky/samples", name), "utf8")
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line))

  it("are read from every sample", () => {
    for (const record of lines("posts.jsonl")) {
      const text = JSON.stringify(record)
      const event = bluesky.events.read(record, 0)
      assert.strictEqual(Either.isRight(event), !text.includes('"operation":"delete"'), text)
      if (Either.isLeft(event)) continue
      assert.match(
        Either.getOrThrow(bluesky.events.idOf(record, String)),
        /^at:\/\/did:plc:\w+\/app\.bsky\.feed\.post\/3m/
      )
      assert.isTrue(Schema.is(bluesky.events.schema)(record), text)
      const { author, text: shown, link } = bluesky.events.summaryOf(record)
      assert.match(link ?? "", /^https:\/\/bsky\.app\/profile\/did:plc:\w{24}\/post\/3m\w{11}$/)
      assert.match(author ?? "", /^did:plc:/)
      assert.isString(shown)
    }
    for (const record of lines("other.jsonl")) assert.isTrue(Either.isLeft(bluesky.events.read(record, 0)))
  })

  it("are summed up with the handle of the author, if it is known", () => {
    const summary = bluesky.events.summaryOf(post({ text: "Hi" }, { [DID]: "nasa.gov" }))
    assert.deepStrictEqual(summary, {
      author: "@nasa.gov",
      text: "Hi",
      link: `https://bsky.app/profile/${DID}/post/3l7`
    })
    assert.strictEqual(bluesky.events.timeOf(post({})), 1_779_719_009_157)
  })

  it("are read with any field missing or of another type", () => {
    const full = post({
      ...facet({ uri: "https://a.com", did: OTHER, tag: "a" }),
      langs: ["en"],
      tags: ["a"],
      reply: { root: { uri: URI }, parent: { uri: URI } },
      embed: {
        record: { record: { uri: URI } },
        media: { images: [{ alt: "a" }], external: { uri: "x", title: "t" } }
      },
      labels: { values: [{ val: "porn" }] }
    })
    const fields = [...Object.keys(bluesky.fieldNames.text), ...Object.keys(bluesky.fieldNames.keyword)]
    const wrong = fc.constantFrom<unknown>(undefined, null, 7, "", "\ud800", [], [null], {}, [[]], true, 1e300)
    fc.assert(
      fc.property(fc.nat(), wrong, (place, value) => {
        let left = place % 60
        const broken: unknown = JSON.parse(JSON.stringify(full), (_, one: unknown) => (left-- === 0 ? value : one))
        bluesky.events.summaryOf(broken)
        bluesky.events.titleOf(broken)
        const event = bluesky.events.read(broken, 0)
        if (Either.isLeft(event)) return
        for (const field of fields) {
          for (const one of [...event.right.texts(field), ...event.right.values(field)]) assert.isString(one)
        }
      }),
      { numRuns: 500 }
    )
  })
})

describe("translations of bluesky", () => {
  const languages = { bluesky, x, firehose }
  type Id = keyof typeof languages
  const targetOf = (id: Id) => {
    const language = languages[id]
    return isTarget(language) ? language : assert.fail(id)
  }

  it.each<[Id, Id, string, string | undefined, string]>([
    ["x", "bluesky", 'storm "big wave"~3 -is:retweet lang:iw', 'storm "big wave"~3 lang:he', "exact"],
    ["x", "bluesky", "#moon has:images sample:10", "#moon has:images sample:10", "exact"],
    ["x", "bluesky", "nasa from:nasa", "nasa", "wider"],
    ["x", "bluesky", "from:nasa", undefined, "impossible"],
    ["x", "bluesky", "cat -place:paris", "cat", "wider"],
    ["bluesky", "x", "storm -is:reply lang:he", "storm -is:reply lang:iw", "exact"],
    ["bluesky", "x", "storm lang:zh", "storm lang:zh", "exact"],
    ["bluesky", "x", "domain:example.com", 'url:"example.com"', "wider"],
    ["bluesky", "x", "moon has:alt -label:porn", "moon", "wider"],
    ["bluesky", "firehose", "storm -is:reply lang:he", "storm AND language:he", "exact"],
    ["bluesky", "firehose", "domain:example.com", "domain:example.com", "exact"],
    ["firehose", "bluesky", "added:storm AND language:he", "storm lang:he", "exact"],
    ["firehose", "bluesky", "storm~1", undefined, "impossible"]
  ])("from %s to %s: %s", (from, to, text, expected, fidelity) => {
    const translation = translate({ language: languages[from], text }, targetOf(to))
    assert.strictEqual(translation.text, expected)
    assert.strictEqual(translation.fidelity, fidelity)
    const third = (["X", "Firehose", "Bluesky"] as const).filter(
      (name) => ![languages[from].name, languages[to].name].includes(name)
    )
    const reasons = translation.clauses.map(({ reason }) => reason).join("; ")
    for (const name of third) assert.notMatch(reasons, new RegExp(`\\b${name}\\b`))
  })

  it("show each loss on an example event", () => {
    for (const [from, to, text] of [
      ["x", "bluesky", "nasa from:nasa"],
      ["bluesky", "x", "moon from:nasa.gov has:alt"],
      ["bluesky", "x", "domain:example.com"],
      ["bluesky", "firehose", "#moon"]
    ] as const) {
      const source = languages[from]
      const target = languages[to]
      if (source.examples === undefined || target.examples === undefined || !isTarget(target)) assert.fail()
      const rule = { language: { ...source, examples: source.examples }, text }
      const { clauses } = translateWithWitnesses(rule, { ...target, examples: target.examples })
      for (const { effects, witnesses, reason } of clauses) {
        assert.deepStrictEqual(
          witnesses.map(({ effect }) => effect),
          effects,
          `${text}: ${reason}`
        )
      }
    }
  })
})
