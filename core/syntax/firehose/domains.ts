/** The domains of a page: its host and each parent down to the registrable domain. */

/**
 * In lower case, without `www.`. The registrable domain is the last two labels, or three for the two-label suffixes
 * listed in this file. Unlisted two-label suffixes are treated as domains.
 */
export const domainsOf = (url: string): ReadonlyArray<string> => {
  const host = hostOf(url)
  if (host === undefined) return []
  const name = host.startsWith("www.") && host.indexOf(".", 4) > 0 ? host.slice(4) : host
  const labels = name.split(".")
  if (labels.length > MAX_LABELS || /^[0-9.]+$|[[\]:]/.test(name) || labels.includes("")) return [name]
  const kept = twoPartSuffixes.has(labels.slice(-2).join(".")) ? 3 : 2
  const found = [name]
  for (let from = 1; from <= labels.length - kept; from++) {
    found.push(labels.slice(from).join("."))
  }
  return found
}

// ---- helpers ----

/** DNS allows no more labels. */
const MAX_LABELS = 127

const hostOf = (url: string): string | undefined => {
  const start = url.indexOf("://")
  if (start === -1) return undefined
  const rest = url.slice(start + 3)
  const end = rest.search(/[/?#\\]/)
  const authority = end === -1 ? rest : rest.slice(0, end)
  const host = authority.slice(authority.lastIndexOf("@") + 1).replace(/:\d{0,5}$/, "")
  const name = (host.endsWith(".") ? host.slice(0, -1) : host).toLowerCase()
  return name === "" ? undefined : name
}

const twoPartSuffixes: ReadonlySet<string> = new Set(
  [
    "ac.at co.at gv.at or.at asn.au com.au edu.au gov.au id.au net.au org.au com.ar edu.ar gob.ar gov.ar org.ar",
    "com.bd com.bo com.br edu.br gov.br net.br org.br com.cn edu.cn gov.cn net.cn org.cn com.co edu.co gov.co com.cy",
    "com.do com.ec com.eg edu.eg gov.eg com.es gob.es org.es com.fr gouv.fr com.gh com.gr gov.gr com.gt com.hk edu.hk",
    "gov.hk org.hk co.hu co.id ac.id go.id or.id ac.il co.il gov.il org.il ac.in co.in edu.in gov.in net.in nic.in org.in",
    "ac.ir co.ir edu.it gov.it ac.jp co.jp ed.jp go.jp gr.jp lg.jp ne.jp or.jp ac.ke co.ke go.ke or.ke ac.kr co.kr go.kr",
    "ne.kr or.kr re.kr com.kw com.lb ac.lk com.lk com.mm com.mt com.mx edu.mx gob.mx org.mx com.my edu.my gov.my org.my",
    "com.ng edu.ng gov.ng org.ng com.ni com.np gov.np ac.nz co.nz geek.nz govt.nz net.nz org.nz school.nz com.om com.pa",
    "com.pe edu.pe gob.pe org.pe com.ph edu.ph gov.ph org.ph com.pk edu.pk gov.pk com.pl edu.pl gov.pl net.pl org.pl",
    "com.pt edu.pt gov.pt com.py com.qa com.ro com.ru msk.ru spb.ru com.sa edu.sa gov.sa com.sg edu.sg gov.sg org.sg",
    "com.sv ac.th co.th go.th in.th or.th com.tn bel.tr com.tr edu.tr gov.tr k12.tr org.tr com.tw edu.tw gov.tw org.tw",
    "ac.tz co.tz go.tz com.ua edu.ua gov.ua in.ua kiev.ua org.ua ac.ug co.ug ac.uk co.uk gov.uk ltd.uk me.uk net.uk",
    "nhs.uk org.uk plc.uk police.uk sch.uk com.uy edu.uy gub.uy com.uz com.ve gob.ve com.vn edu.vn gov.vn ac.za co.za",
    "gov.za net.za org.za web.za ac.zm co.zm ac.zw co.zw"
  ].flatMap((line) => line.split(" "))
)
