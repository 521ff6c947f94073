/** Which addresses messages may be sent to: public ones, and those that the operator allows. */
import { BlockList, isIP, isIPv4 } from "node:net"
import { Either, Option } from "effect"

export class Addresses {
  // One for each family: a list of both takes an IPv4 address for its form in IPv6, and the other way round.
  private readonly allowed = { ipv4: new BlockList(), ipv6: new BlockList() }

  /** From ranges like `10.0.0.0/8` or `fd00::/8`, separated by commas. Left: what is wrong with the text. */
  static parse(text: string): Either.Either<Addresses, string> {
    const addresses = new Addresses()
    for (const range of text.split(",").map((part) => part.trim())) {
      const [, address = "", length = ""] = /^([^/]+)\/(\d{1,3})$/.exec(range) ?? []
      const bits = isIP(address) === 4 ? 32 : 128
      if (isIP(address) === 0 || Number(length) > bits) {
        return Either.left(
          `"${range}" is not a range of addresses: write it like 10.0.0.0/8 or fd00::/8, with commas between several`
        )
      }
      addresses.allowed[familyOf(address)].addSubnet(address, Number(length), familyOf(address))
    }
    return Either.right(addresses)
  }

  /** Why nothing is sent there. What is not an address at all is refused, too. */
  refusal(address: string): Option.Option<string> {
    // One with a zone is of a link, and not what the ranges here are about.
    if (isIP(address) === 0 || address.includes("%")) return Option.some(`"${address}" is not an address`)
    const family = familyOf(address)
    const kind = this.allowed[family].check(address, family) ? undefined : kindOf(address)
    if (kind !== undefined) return Option.some(`"${address}" is ${kind}, ${ONLY_PUBLIC}`)
    // What comes out at the other end of a tunnel or a translator is judged as well.
    const inner = embeddedIn(address).map((one) => this.refusal(one))
    return Option.firstSomeOf(inner)
  }
}

// ---- helpers ----

const ONLY_PUBLIC =
  "and messages go to public addresses only: use one, or ask the operator to allow its range with EARSHOT_WEBHOOK_ALLOW"

const familyOf = (address: string): "ipv4" | "ipv6" => (isIPv4(address) ? "ipv4" : "ipv6")

/** None for a public address. */
const kindOf = (address: string): string | undefined => {
  const family = familyOf(address)
  const kinds = family === "ipv4" ? KINDS_V4 : KINDS_V6
  const special = kinds.find(({ ranges }) => ranges.check(address, family))?.kind
  return special ?? (family === "ipv4" || GIVEN_OUT.ranges.check(address, family) ? undefined : RESERVED)
}

const RESERVED = "a reserved address"

function kind(kind: string, ...subnets: ReadonlyArray<string>) {
  const ranges = new BlockList()
  for (const subnet of subnets) {
    const [address = "", length] = subnet.split("/")
    ranges.addSubnet(address, Number(length), familyOf(address))
  }
  return { kind, ranges }
}

const KINDS_V4 = [
  kind("a loopback address", "127.0.0.0/8"),
  kind("a private address", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"),
  // Where clouds keep the credentials of a machine, most of all.
  kind("a link-local or metadata address", "169.254.0.0/16", "168.63.129.16/32"),
  kind("an unspecified address", "0.0.0.0/8"),
  kind("a multicast address", "224.0.0.0/4"),
  kind(
    RESERVED,
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "240.0.0.0/4"
  )
]

const KINDS_V6 = [
  kind("a loopback address", "::1/128"),
  kind("an unspecified address", "::/128"),
  kind("a private address", "fc00::/7", "fec0::/10"),
  kind("a link-local address", "fe80::/10"),
  kind("a multicast address", "ff00::/8"),
  kind("an address with another inside", "::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16"),
  // Teredo is among the first.
  kind(RESERVED, "2001::/23", "2001:db8::/32", "3fff::/20", "3ffe::/16")
]

/** All that is public is in it. */
const GIVEN_OUT = kind("", "2000::/3")

/** The IPv4 addresses that an IPv6 address leads to. */
const embeddedIn = (address: string): ReadonlyArray<string> => {
  if (isIPv4(address)) return []
  const groups = groupsOf(address)
  const at = (index: number) => toV4(groups[index] ?? 0, groups[index + 1] ?? 0)
  return EMBEDDINGS.filter(({ ranges }) => ranges.check(address, "ipv6")).flatMap(({ places }) => places.map(at))
}

/** In which two of the eight groups the address is. Those of Teredo's client are written inverted and never public. */
const EMBEDDINGS = [
  { ...kind("", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48"), places: [6] },
  { ...kind("", "2002::/16"), places: [1] },
  { ...kind("", "2001::/32"), places: [2] }
]

const toV4 = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join(".")

/** The eight groups of an IPv6 address. A URL writes it in hexadecimal, with one run of zeros left out at most. */
const groupsOf = (address: string): ReadonlyArray<number> => {
  const [withoutZone = ""] = address.split("%")
  const [head = "", tail] = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1).split("::")
  const groups = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)))
  const [first, last] = [groups(head), groups(tail ?? "")]
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
}
