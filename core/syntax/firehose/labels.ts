/** Known values of Firehose's keyword fields: languages and labels. */

export const languages: ReadonlyArray<string> =
  "af ar bg bn cs da de el en es et fa fi fr gu he hi hr hu id it ja kn ko lt lv mk ml mr ne nl no pa pl pt ro ru sk sl so sq sv sw ta te th tl tr uk ur vi zh-cn zh-tw".split(
    " "
  )

export const isLanguage = (code: string): boolean => languageSet.has(code)

/** The codes for a name, a three-letter code, a country or a code with a region. Chinese has one for each script. */
export const suggestLanguages = (text: string): ReadonlyArray<string> => {
  const lower = text.toLowerCase().replaceAll("_", "-")
  return codesOf(lower) ?? codesOf(lower.replace(/(?<=.)-.*$/s, "")) ?? []
}

/** Every label begins with one of these. Unlisted children exist. */
export const pageTypes: ReadonlyArray<string> = [
  "/Article",
  "/Audio",
  "/Core_Page",
  "/Document",
  "/Image",
  "/Interactive_Tools",
  "/Landing_Page",
  "/Listing",
  "/Listing_Collection",
  "/User_Generated_Content",
  "/Video"
]

export const pageTypeChildren: ReadonlyArray<string> = [
  "/Article/FAQ",
  "/Article/How_to",
  "/Article/Listicle",
  "/Article/News_Update",
  "/Article/Opinion_Piece",
  "/Audio/Podcast",
  "/Core_Page/Careers_Page",
  "/Core_Page/T&C_Page",
  "/Document/White_Paper",
  "/Landing_Page/Pricing_Page",
  "/Listing/Job",
  "/User_Generated_Content/Forum_Thread",
  "/User_Generated_Content/Reviews",
  "/Video/Interview"
]

export const pageCategories: ReadonlyArray<string> = [
  "/Adult",
  "/Arts_and_Entertainment",
  "/Autos_and_Vehicles",
  "/Beauty_and_Fitness",
  "/Books_and_Literature",
  "/Business_and_Industrial",
  "/Computers_and_Electronics",
  "/Finance",
  "/Food_and_Drink",
  "/Games",
  "/Health",
  "/Hobbies_and_Leisure",
  "/Home_and_Garden",
  "/Internet_and_Telecom",
  "/Jobs_and_Education",
  "/Law_and_Government",
  "/News",
  "/Online_Communities",
  "/People_and_Society",
  "/Pets_and_Animals",
  "/Real_Estate",
  "/Reference",
  "/Science",
  "/Sensitive_Subjects",
  "/Shopping",
  "/Sports",
  "/Travel_and_Transportation"
]

export const pageCategoryChildren: ReadonlyArray<string> = [
  "/Finance/Investing",
  "/News/Business_News",
  "/News/Business_News/Company_News",
  "/News/Business_News/Economy_News",
  "/News/Business_News/Financial_Markets_News",
  "/News/Business_News/Fiscal_Policy_News",
  "/News/Gossip_and_Tabloid_News",
  "/News/Health_News",
  "/News/Local_News",
  "/News/Politics",
  "/News/Sports_News",
  "/News/Technology_News",
  "/News/Weather",
  "/News/World_News"
]

export type LabelField = "page_type" | "page_category"

/** The exact label is in the list. */
export const isListedLabel = (field: LabelField, label: string): boolean => vocabularies[field].listed.has(label)

/** The top level of the label is in the list. Its children are not checked: the list of children is incomplete. */
export const isKnownLabel = (field: LabelField, label: string): boolean => {
  const slash = label.indexOf("/", 1)
  return vocabularies[field].tops.has(slash === -1 ? label : label.slice(0, slash))
}

/** The intended label for a text with another case, without the slash, with spaces, or with only the last part. */
export const suggestLabel = (field: LabelField, text: string): string | undefined => {
  const key = labelKey(text)
  const vocabulary = vocabularies[field]
  const whole = vocabulary.byKey.get(key)
  if (whole !== undefined) return whole
  const slash = key.indexOf("/")
  if (slash > 0) {
    const top = vocabulary.byKey.get(key.slice(0, slash))
    return top === undefined ? undefined : top + text.slice(text.indexOf("/", 1))
  }
  return vocabulary.byLastPart.get(key)
}

export const labelsOf = (field: LabelField): ReadonlyArray<string> => vocabularies[field].all

// ---- helpers ----

const languageSet = new Set(languages)

const codesOf = (name: string): ReadonlyArray<string> | undefined =>
  languageSet.has(name) ? [name] : languageAliases.get(name)

const languageAliases = new Map<string, ReadonlyArray<string>>(
  Object.entries({
    ar: "arabic ara sa",
    bg: "bulgarian bul",
    bn: "bengali ben",
    cs: "czech ces cze cz",
    da: "danish dan dk",
    de: "german deu ger",
    el: "greek ell gre gr",
    en: "english eng us gb",
    es: "spanish spa mx",
    et: "estonian est ee",
    fa: "persian farsi fas per ir",
    fi: "finnish fin",
    fr: "french fra fre",
    he: "hebrew heb iw il",
    hi: "hindi hin",
    hr: "croatian hrv",
    hu: "hungarian hun",
    id: "indonesian ind in",
    it: "italian ita",
    ja: "japanese jpn jp",
    ko: "korean kor kr",
    lt: "lithuanian lit",
    lv: "latvian lav",
    nl: "dutch nld dut",
    no: "norwegian nor nb nn",
    pl: "polish pol",
    pt: "portuguese por br",
    ro: "romanian ron rum",
    ru: "russian rus",
    sk: "slovak slk slo",
    sl: "slovenian slv si",
    sv: "swedish swe se",
    th: "thai tha",
    tl: "tagalog filipino fil ph",
    tr: "turkish tur",
    uk: "ukrainian ukr ua",
    ur: "urdu urd",
    vi: "vietnamese vie vn",
    "zh-cn zh-tw": "zh chinese zho chi",
    "zh-cn": "cn zh-hans",
    "zh-tw": "zh-hant tw zh-hk"
  }).flatMap(([codes, names]) =>
    names.split(" ").map((name): [string, ReadonlyArray<string>] => [name, codes.split(" ")])
  )
)

interface Vocabulary {
  readonly tops: ReadonlySet<string>
  readonly listed: ReadonlySet<string>
  readonly byKey: ReadonlyMap<string, string>
  readonly byLastPart: ReadonlyMap<string, string>
  readonly all: ReadonlyArray<string>
}

const labelKey = (label: string): string =>
  label
    .toLowerCase()
    .replace(/^\/+/, "")
    .replace(/\/+$/, "")
    .replaceAll("&", "and")
    .replace(/[\s_-]+/g, "_")

const vocabulary = (tops: ReadonlyArray<string>, children: ReadonlyArray<string>): Vocabulary => {
  const all = [...tops, ...children]
  return {
    tops: new Set(tops),
    listed: new Set(all),
    byKey: new Map(all.map((label) => [labelKey(label), label])),
    byLastPart: new Map(all.map((label) => [labelKey(label.slice(label.lastIndexOf("/"))), label])),
    all
  }
}

const vocabularies: Record<LabelField, Vocabulary> = {
  page_type: vocabulary(pageTypes, pageTypeChildren),
  page_category: vocabulary(pageCategories, pageCategoryChildren)
}
