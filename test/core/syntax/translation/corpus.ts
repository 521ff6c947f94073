/** Rules of both languages with their translation. */
import type { Fidelity } from "../../../../core/syntax/translation/translate.ts"
import type { PlatformId } from "../../../../fixtures/languages.ts"

/** The clauses are in the order of the source. */
export type Case = readonly [
  source: string,
  text: string | undefined,
  whole: Fidelity,
  ...clauses: ReadonlyArray<Fidelity>
]

const toFirehose: ReadonlyArray<Case> = [
  // Words and phrases.
  ["tesla", "tesla", "exact", "exact"],
  ["Tesla RECALL", "tesla AND recall", "exact", "exact", "exact"],
  ['"electric vehicle"', '"electric vehicle"', "exact", "exact"],
  ['"coca-cola"', '"coca cola"', "exact", "exact"],
  ["größe", "größe", "exact", "exact"],
  ["you", undefined, "impossible"],
  ["you tesla", "you AND tesla", "exact", "exact", "exact"],
  ["the boat", "boat", "wider", "impossible", "exact"],
  ['"the boat"', '"the boat"', "wider", "wider"],
  ['"state of the art"', '"state of the art"', "wider", "wider"],
  ['"to be or not to be"', undefined, "impossible", "impossible"],
  ['boat -"to be"', "boat", "wider", "exact", "impossible"],
  ["node.js", "node.js", "narrower", "narrower"],
  ['"o\'neil"', "o'neil", "narrower", "narrower"],
  ["東京", '"東京"', "wider", "wider"],
  ["タワー", "タワー", "wider", "wider"],
  ["🍕", "🍕", "narrower", "narrower"],
  ["οδος", "οδος", "narrower", "narrower"],
  ['"happy birthday"~3', '"happy birthday"~3', "wider", "wider"],
  ['"very happy birthday"~3', '"very happy birthday"~3', "different", "different"],
  // Tags.
  ["#marathon", "marathon", "wider", "wider"],
  ["#foo_bar", "foo_bar", "wider", "wider"],
  ["$TSLA stock", "tsla AND stock", "wider", "wider", "exact"],
  ["stock -#ad", "stock AND NOT ad", "narrower", "exact", "narrower"],
  // Structure.
  ["cat OR dog", "cat OR dog", "exact", "exact", "exact"],
  ["cat OR dog bird", "cat OR (dog AND bird)", "exact", "exact", "exact", "exact"],
  ["(cat OR dog) bird -fish", "(cat OR dog) AND bird AND NOT fish", "exact", "exact", "exact", "exact", "exact"],
  ["cat -(dog bird)", "cat AND NOT (dog AND bird)", "exact", "exact", "exact", "exact"],
  ["cat -(dog OR bird)", "cat AND NOT dog AND NOT bird", "exact", "exact", "exact", "exact"],
  ["cat -(-dog -bird)", "cat AND (dog OR bird)", "exact", "exact", "exact", "exact"],
  [
    "cat -(dog (bird OR -fish))",
    "cat AND NOT (dog AND (bird OR (*:* AND NOT fish)))",
    "exact",
    "exact",
    "exact",
    "exact",
    "exact"
  ],
  ["-fish cat", "cat AND NOT fish", "exact", "exact", "exact"],
  ["cat cat #cat", "cat", "wider", "exact", "exact", "wider"],
  ["cat -cat", undefined, "impossible", "impossible", "impossible"],
  ["dog OR (cat -cat)", "dog", "exact", "exact", "impossible", "impossible"],
  // Not supported by Firehose.
  ["from:nasa moon", "moon", "wider", "impossible", "exact"],
  ["from:nasa OR moon", "moon", "narrower", "impossible", "exact"],
  ["moon -from:nasa", "moon", "wider", "exact", "impossible"],
  ["moon -(cat from:nasa)", "moon AND NOT cat", "narrower", "exact", "exact", "impossible"],
  ["moon -(cat OR from:nasa)", "moon AND NOT cat", "wider", "exact", "exact", "impossible"],
  ["moon (from:nasa OR from:esa)", "moon", "wider", "exact", "impossible", "impossible"],
  ["moon (from:nasa OR cat)", "moon AND cat", "narrower", "exact", "impossible", "exact"],
  ["from:nasa (moon OR to:esa)", "moon", "different", "impossible", "exact", "impossible"],
  ["from:nasa -moon", undefined, "impossible", "impossible", "impossible"],
  ["from:nasa OR @nasa", undefined, "impossible", "impossible", "impossible"],
  ["cat OR (from:nasa -moon)", "cat", "narrower", "exact", "impossible", "impossible"],
  [
    "cat ((from:nasa -moon) OR (from:esa -mars))",
    "cat",
    "wider",
    "exact",
    "impossible",
    "impossible",
    "impossible",
    "impossible"
  ],
  ["(cat OR dog) sample:10", "cat OR dog", "wider", "exact", "exact", "impossible"],
  ["cat followers_count:1000", "cat", "wider", "exact", "impossible"],
  ["cat place:berlin", "cat", "wider", "exact", "impossible"],
  ["cat has:images", "cat", "wider", "exact", "impossible"],
  ["cat is:retweet", "cat", "wider", "exact", "impossible"],
  ["cat -is:retweet -is:reply", "cat", "exact", "exact", "exact", "exact"],
  ["cat is:verified", "cat", "wider", "exact", "impossible"],
  ["cat point_radius:[2.355128 48.861118 16km]", "cat", "wider", "exact", "impossible"],
  // What the rule looks for is lost, and the rest only says where or of which kind.
  ["from:nasa lang:en", undefined, "impossible", "impossible", "impossible"],
  ['from:nasa url:"nasa.gov"', undefined, "impossible", "impossible", "impossible"],
  ["place:berlin lang:de", undefined, "impossible", "impossible", "impossible"],
  ["moon OR (from:nasa lang:en)", "moon", "narrower", "exact", "impossible", "impossible"],
  ["moon (from:nasa OR lang:en)", "moon AND language:en", "narrower", "exact", "impossible", "exact"],
  [
    "moon ((from:nasa lang:en) OR lang:de)",
    "moon AND (language:en OR language:de)",
    "wider",
    "exact",
    "impossible",
    "exact",
    "exact"
  ],
  ['from:nasa (moon OR url:"nasa.gov")', "moon", "different", "impossible", "exact", "impossible"],
  ['url:"nasa.gov" has:images', "domain:nasa.gov", "different", "narrower", "impossible"],
  // Languages.
  ["cat lang:en", "cat AND language:en", "exact", "exact", "exact"],
  ["cat lang:iw", "cat AND language:he", "exact", "exact", "exact"],
  ["cat lang:in", "cat AND language:id", "exact", "exact", "exact"],
  ["cat lang:tl", "cat AND language:tl", "exact", "exact", "exact"],
  ["cat lang:zh-CN", "cat AND (language:zh-cn OR language:zh-tw)", "exact", "exact", "exact"],
  ["cat -lang:zh", "cat AND NOT language:zh-cn AND NOT language:zh-tw", "exact", "exact", "exact"],
  ["cat lang:eu", "cat", "wider", "exact", "impossible"],
  // Links.
  ['url:"example.com"', "domain:example.com", "narrower", "narrower"],
  ['url:"https://www.example.com/"', "domain:example.com", "narrower", "narrower"],
  [
    'url:"example.com/news"',
    "url:/(.*[^a-zA-Z0-9])?example[^a-zA-Z0-9]+com[^a-zA-Z0-9]+news([^a-zA-Z0-9].*)?/",
    "narrower",
    "narrower"
  ],
  ['url:"index.html"', "url:/(.*[^a-zA-Z0-9])?index[^a-zA-Z0-9]+html([^a-zA-Z0-9].*)?/", "narrower", "narrower"],
  ["url:2025", "url:/(.*[^a-zA-Z0-9])?2025([^a-zA-Z0-9].*)?/", "exact", "exact"],
  ['url_contains:"/2025/"', "url:*\\/2025\\/*", "exact", "exact"],
  ['url_contains:"/Press/"', "url:*\\/press\\/*", "narrower", "narrower"],
  ['cat -url_contains:"/tag/"', "cat AND NOT url:*\\/tag\\/*", "wider", "exact", "wider"],
  ['url_title:"the press"', 'title:"the press"', "narrower", "narrower"],
  ["cat url_description:weather", "cat", "wider", "exact", "impossible"]
]

const toX: ReadonlyArray<Case> = [
  // Words and phrases.
  ["tesla", "tesla", "exact", "exact"],
  ["added:Tesla AND recall", "tesla recall", "exact", "exact", "exact"],
  ["tesla recall", "tesla OR recall", "exact", "exact", "exact"],
  ['"electric vehicle"', '"electric vehicle"', "exact", "exact"],
  ["you OR via", '"you" OR "via"', "exact", "exact", "exact"],
  ["größe", '"größe"', "exact", "exact"],
  ['"state of the art"', '"state of the art"', "narrower", "narrower"],
  ['"the boat"', '"the boat"', "narrower", "narrower"],
  ["coca-cola", "coca OR cola", "exact", "exact"],
  ["node.js", '"node js"', "wider", "wider"],
  ["foo_bar", '"foo bar"', "wider", "wider"],
  ['"東京"', '"東京"', "narrower", "narrower"],
  ["東京", '"東" OR "京"', "narrower", "narrower"],
  ["🍕", '"🍕"', "wider", "wider"],
  ["οδος", '"οδοσ"', "wider", "wider"],
  ['"tesla recall"~5', '"tesla recall"~5', "narrower", "narrower"],
  ['"tesla recall"~50', '"tesla recall"~6', "narrower", "narrower"],
  ['"big tesla recall"~5', '"big tesla recall"~5', "different", "different"],
  ["tesla~0", "tesla", "exact", "exact"],
  ["tesla OR volkswagen~1", "tesla", "narrower", "exact", "impossible"],
  ["tesla OR electri*", "tesla", "narrower", "exact", "impossible"],
  ["tesla OR /elec.*/", "tesla", "narrower", "exact", "impossible"],
  ["tesla^2 OR rivian", "tesla OR rivian", "exact", "exact", "exact"],
  // Structure.
  ["cat AND (dog OR bird) AND NOT fish", "cat (dog OR bird) -fish", "exact", "exact", "exact", "exact", "exact"],
  ["(cat AND dog) OR bird", "cat dog OR bird", "exact", "exact", "exact", "exact"],
  ["cat AND NOT (dog AND bird)", "cat -(dog bird)", "exact", "exact", "exact", "exact"],
  ["cat AND NOT (dog OR bird)", "cat -dog -bird", "exact", "exact", "exact", "exact"],
  ["+cat -dog", "cat -dog", "exact", "exact", "exact"],
  ["*:* AND NOT cat", undefined, "impossible", "impossible", "impossible"],
  ["*:* AND cat", "cat", "exact", "exact", "exact"],
  ["dog OR (*:* AND NOT cat)", "dog", "narrower", "exact", "impossible", "impossible"],
  ["cat AND NOT (dog AND (*:* AND NOT bird))", "cat -(dog -bird)", "exact", "exact", "exact", "exact", "exact"],
  // Not supported by X.
  ["tesla AND recent:24h", "tesla", "wider", "exact", "impossible"],
  ['tesla AND page_category:"/News"', "tesla", "wider", "exact", "impossible"],
  ['tesla AND page_type:"/Article" AND dr:[50 TO *]', "tesla", "wider", "exact", "impossible", "impossible"],
  ["tesla AND publish_time:*", "tesla", "wider", "exact", "impossible"],
  ["tesla OR removed:tesla", "tesla", "narrower", "exact", "impossible"],
  ["tesla AND NOT added_anchor:buy", "tesla", "wider", "exact", "impossible"],
  ["removed:tesla", undefined, "impossible", "impossible"],
  ["dr:[50 TO 100] AND NOT tesla", undefined, "impossible", "impossible", "impossible"],
  // What the rule looks for is lost, and the rest only says where or of which kind.
  ['removed:"free plan" AND url:*pricing*', undefined, "impossible", "impossible", "impossible"],
  ["tesla OR (removed:recall AND domain:example.com)", "tesla", "narrower", "exact", "impossible", "impossible"],
  ["tes* AND domain:tesla.com", undefined, "impossible", "impossible", "impossible"],
  ["tesla AND removed:recall", "tesla", "wider", "exact", "impossible"],
  ["domain:tesla.com AND recent:24h", 'url:"tesla.com"', "wider", "wider", "impossible"],
  ["domain:tesla.com AND NOT removed:recall", 'url:"tesla.com"', "wider", "wider", "impossible"],
  ['page_category:"/News" AND domain:tesla.com', 'url:"tesla.com"', "wider", "impossible", "wider"],
  // Languages.
  ["tesla AND language:en", "tesla lang:en", "exact", "exact", "exact"],
  ["tesla AND language:he", "tesla lang:iw", "exact", "exact", "exact"],
  ["tesla AND language:id", "tesla lang:in", "exact", "exact", "exact"],
  ["tesla AND language:zh-tw", "tesla lang:zh-TW", "wider", "exact", "wider"],
  ["tesla AND NOT language:zh-cn", "tesla -lang:zh-CN", "narrower", "exact", "narrower"],
  ["tesla AND language:sw", "tesla", "wider", "exact", "impossible"],
  ["tesla AND language:EN", "tesla", "wider", "exact", "impossible"],
  ["language:en", undefined, "impossible", "impossible"],
  ["language:en OR tesla", "tesla", "narrower", "impossible", "exact"],
  ["(language:en OR tesla) AND language:de", "tesla lang:de", "narrower", "impossible", "exact", "exact"],
  ["(language:en OR language:de) AND tesla", "(lang:en OR lang:de) tesla", "exact", "exact", "exact", "exact"],
  // Links and titles.
  ["domain:techcrunch.com", 'url:"techcrunch.com"', "wider", "wider"],
  ['url:"https://example.com/page"', 'url:"https://example.com/page"', "wider", "wider"],
  ["tesla AND NOT url:*\\/tag\\/*", 'tesla -url_contains:"/tag/"', "narrower", "exact", "narrower"],
  ["url:*\\/2025\\/*", 'url_contains:"/2025/"', "exact", "exact"],
  [
    "url:https\\:\\/\\/example.com\\/*\\/blog*",
    'url_contains:"https://example.com/" url_contains:"/blog"',
    "wider",
    "wider"
  ],
  ["tesla OR url:/.*\\.pdf/", "tesla", "narrower", "exact", "impossible"],
  ["tesla AND url:*", "tesla", "exact", "exact", "exact"],
  ['title:"to be"', 'url_title:"to be"', "wider", "wider"],
  ['title:("to be" OR tesla)', 'url_title:"to be" OR url_title:tesla', "wider", "wider", "wider"],
  ['tesla OR title:"a b"~2', "tesla", "narrower", "exact", "impossible"]
]

export const directions: ReadonlyArray<readonly [PlatformId, PlatformId, ReadonlyArray<Case>]> = [
  ["x", "firehose", toFirehose],
  ["firehose", "x", toX]
]
