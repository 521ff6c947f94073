/** The IP addresses that may be called for an account: public ones, and ranges that the operator allows. */
import { BlockList, isIP, isIPv4 } from "node:net"
import { Either, Option } from "effect"

/** What calls addresses, and the setting that allows more of them. */
export interface Caller {
  readonly who: string
  readonly setting: string
}

export class Addresses {
  readonly onlyPublic: string
  // One list per family: a mixed list also matches an IPv4 address in its IPv6-mapped form, and vice versa.
  private readonly allowed = { ipv4: new BlockList(), ipv6: new BlockList() }

  constructor({ who, setting }: Caller = WEBHOOKS) {
    this.onlyPublic = `but ${who} may only call public addresses: use one, or ask the operator to allow its range with ${setting}`
  }

  /** Parses comma-separated ranges like `10.0.0.0/8` or `fd00::/8`. Left: the error message. */
  static parse(text: string, caller?: Caller): Either.Either<Addresses, string> {
    const addresses = new Addresses(caller)
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

  /** Whether the operator allows it by its range. */
  isNamed(address: string): boolean {
    return (
      isIP(address) !== 0 && !address.includes("%") && this.allowed[familyOf(address)].check(address, familyOf(address))
    )
  }

  /** The reason why the address is refused. Text that is not an address is refused, too. */
  refusal(address: string): Option.Option<string> {
    // A zone means a link-local address, which the ranges do not cover.
    if (isIP(address) === 0 || address.includes("%")) return Option.some(`"${address}" is not an address`)
    const family = familyOf(address)
    const kind = this.allowed[family].check(address, family) ? undefined : kindOf(address)
    if (kind !== undefined) return Option.some(`"${address}" is ${kind}, ${this.onlyPublic}`)
    // A tunnel or translator forwards to the embedded address.
    return Option.firstSomeOf(embeddedIn(address).map((inner) => this.refusal(inner)))
  }
}

// ---- helpers ----

const WEBHOOKS: Caller = { who: "webhooks", setting: "EARSHOT_WEBHOOK_ALLOW" }

const familyOf = (address: string): "ipv4" | "ipv6" => (isIPv4(address) ? "ipv4" : "ipv6")

/** Undefined for a public address. */
const kindOf = (address: string): string | undefined => {
  const family = familyOf(address)
  const kinds = family === "ipv4" ? kindsV4 : kindsV6
  const special = kinds.find(({ ranges }) => ranges.check(address, family))?.kind
  return special ?? (family === "ipv4" || globalUnicast.ranges.check(address, family) ? undefined : RESERVED)
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

const kindsV4 = [
  kind("a loopback address", "127.0.0.0/8"),
  kind("a private address", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"),
  // Cloud metadata services hand out a machine's credentials here.
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

const kindsV6 = [
  kind("a loopback address", "::1/128"),
  kind("an unspecified address", "::/128"),
  kind("a private address", "fc00::/7", "fec0::/10"),
  kind("a link-local address", "fe80::/10"),
  kind("a multicast address", "ff00::/8"),
  kind("an address that embeds another", "::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16"),
  // 2001::/23 includes Teredo.
  kind(RESERVED, "2001::/23", "2001:db8::/32", "3fff::/20", "3ffe::/16")
]

/** All public IPv6 addresses are in this range. */
const globalUnicast = kind("", "2000::/3")

/** The IPv4 addresses embedded in an IPv6 address. */
const embeddedIn = (address: string): ReadonlyArray<string> => {
  if (isIPv4(address)) return []
  const groups = groupsOf(address)
  const at = (index: number) => toV4(groups[index] ?? 0, groups[index + 1] ?? 0)
  return embeddings.filter(({ ranges }) => ranges.check(address, "ipv6")).map(({ group }) => at(group))
}

/** `group` and the next one hold the address. Teredo's client address, which is stored inverted, is not checked. */
const embeddings = [
  { ...kind("", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48"), group: 6 },
  { ...kind("", "2002::/16"), group: 1 },
  { ...kind("", "2001::/32"), group: 2 }
]

const toV4 = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join(".")

/** The eight groups of an IPv6 address. `URL` normalizes it to hexadecimal with at most one `::`. */
const groupsOf = (address: string): ReadonlyArray<number> => {
  const [withoutZone = ""] = address.split("%")
  const [head = "", tail] = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1).split("::")
  const groups = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)))
  const [first, last] = [groups(head), groups(tail ?? "")]
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
}
