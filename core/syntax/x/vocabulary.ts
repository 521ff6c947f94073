/** Fixed lists of X's rule language: languages, countries and stop words. */

export interface Language {
  readonly code: string
  readonly name: string
}

/** The values of `lang:`. X uses two old codes: `iw` for Hebrew, `in` for Indonesian. */
export const languages: ReadonlyArray<Language> = rows(
  `am Amharic|ar Arabic|bg Bulgarian|bn Bengali|bo Tibetan|bs Bosnian|ca Catalan|ckb Sorani Kurdish|cs Czech|cy Welsh
   |da Danish|de German|dv Maldivian|el Greek|en English|es Spanish|et Estonian|eu Basque|fa Persian|fi Finnish
   |fr French|gu Gujarati|hi Hindi|hi-Latn Latinized Hindi|hr Croatian|ht Haitian Creole|hu Hungarian|hy Armenian
   |in Indonesian|is Icelandic|it Italian|iw Hebrew|ja Japanese|ka Georgian|km Khmer|kn Kannada|ko Korean|lo Lao
   |lt Lithuanian|lv Latvian|ml Malayalam|mr Marathi|my Burmese|ne Nepali|nl Dutch|no Norwegian|or Oriya|pa Panjabi
   |pl Polish|ps Pashto|pt Portuguese|ro Romanian|ru Russian|sd Sindhi|si Sinhala|sk Slovak|sl Slovenian|sr Serbian
   |sv Swedish|ta Tamil|te Telugu|th Thai|tl Tagalog|tr Turkish|ug Uyghur|uk Ukrainian|ur Urdu|vi Vietnamese
   |zh Chinese|zh-CN Simplified Chinese|zh-TW Traditional Chinese`
)

/** The code in its canonical case; ignores the case of `value`. */
export const languageCode = (value: string): string | undefined => codes.get(value.toLowerCase())

/** The code for a common mistake: a code of another standard, a country, or the name of the language. */
export const intendedLanguage = (value: string): string | undefined => {
  const wanted = value.toLowerCase().replaceAll("_", "-")
  const known = wrongCodes.get(wanted) ?? codes.get(wanted) ?? names.get(wanted)
  if (known !== undefined) {
    return known
  }
  const dash = wanted.indexOf("-")
  return dash > 0 ? intendedLanguage(wanted.slice(0, dash)) : undefined
}

/** Cannot be the only positive clauses of a rule or an OR branch. */
export const stopWords: ReadonlySet<string> = new Set(
  "a an and at but by com from http https if in is it its me my or rt the this to too via we www you".split(" ")
)

/** ISO 3166 alpha-2 codes, and the widely used XK (Kosovo). */
export const countries: ReadonlySet<string> = new Set(
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA
   CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA
   GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
   KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS
   MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS
   RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW
   TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW`.split(/\s+/)
)

/** Wrong country codes that are common. */
export const intendedCountry: ReadonlyMap<string, string> = new Map([
  ["UK", "GB"],
  ["EN", "GB"],
  ["USA", "US"],
  ["GBR", "GB"],
  ["DEU", "DE"],
  ["GER", "DE"],
  ["FRA", "FR"],
  ["JPN", "JP"],
  ["CAN", "CA"],
  ["IND", "IN"],
  ["BRA", "BR"],
  ["ESP", "ES"],
  ["ITA", "IT"]
])

// ---- helpers ----

const codes: ReadonlyMap<string, string> = new Map(languages.map(({ code }) => [code.toLowerCase(), code]))
const names: ReadonlyMap<string, string> = new Map(languages.map(({ code, name }) => [name.toLowerCase(), code]))

const wrongCodes: ReadonlyMap<string, string> = new Map(
  `eng en|us en|gb en|ger de|deu de|fra fr|fre fr|spa es|sp es|esp es|ita it|por pt|br pt|rus ru|jp ja|jpn ja|jap ja
   |kr ko|kor ko|cn zh-CN|zho zh|chi zh|tw zh-TW|zh-hans zh-CN|zh-hant zh-TW|zh-hk zh-TW|he iw|heb iw|id in|ind in|gr el
   |gre el|ell el|cz cs|ces cs|dk da|dan da|se sv|swe sv|nb no|nn no|nor no|ara ar|per fa|fas fa|farsi fa|fil tl
   |filipino tl|ua uk|ukr uk|tur tr|nld nl|dut nl|pol pl|hin hi|vie vi|vn vi|tha th|ku ckb|kurdish ckb|ro-md ro`
    .split("|")
    .map((pair) => {
      const [wrong = "", right = ""] = pair.trim().split(" ")
      return [wrong, right]
    })
)

function rows(text: string): ReadonlyArray<Language> {
  return text.split("|").map((row) => {
    const trimmed = row.trim()
    const space = trimmed.indexOf(" ")
    return { code: trimmed.slice(0, space), name: trimmed.slice(space + 1) }
  })
}
