import { assert, describe, it } from "@effect/vitest"
import { Either, Option } from "effect"
import * as fc from "fast-check"
import { Addresses } from "../../../adapters/http/addresses.ts"

const refused = [
  "127.0.0.1",
  "127.255.255.254",
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "10.255.255.255",
  "100.64.0.1",
  "100.127.255.255",
  "100.100.100.200",
  "169.254.169.254",
  "169.254.170.2",
  "168.63.129.16",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.192",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.1.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "0:0:0:0:0:0:0:1",
  "::127.0.0.1",
  "::8.8.8.8",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:169.254.169.254",
  "::ffff:8.8.8.8",
  "64:ff9b::7f00:1",
  "64:ff9b::169.254.169.254",
  "64:ff9b::8.8.8.8",
  "64:ff9b:1::10.0.0.1",
  "100::1",
  "2001::1",
  "2001:0:7f00:1::",
  "2001:10::1",
  "2001:20::1",
  "2001:db8::1",
  "2002:7f00:1::",
  "2002:a9fe:a9fe::1",
  "2002:808:808::1",
  "3fff::1",
  "3ffe::1",
  "4000::1",
  "5f00::1",
  "fc00::1",
  "fd00:ec2::254",
  "fe80::1",
  "fe80::1%eth0",
  "2606:4700::1%eth0",
  "fec0::1",
  "ff02::1",
  "",
  "localhost",
  "example.com",
  "127.1",
  "2130706433",
  "[::1]"
]

const public4 = [
  "8.8.8.8",
  "1.1.1.1",
  "100.63.255.255",
  "100.128.0.1",
  "172.15.0.1",
  "172.32.0.1",
  "192.0.1.1",
  "169.253.0.1"
]
const public6 = ["2606:4700:4700::1111", "2a00:1450:4001::200e", "2001:4860:4860::8888", "2400:cb00::1"]

const allowing = (text: string) => Either.getOrThrow(Addresses.parse(text))
const isRefused = (addresses: Addresses, address: string) => Option.isSome(addresses.refusal(address))

describe("Addresses", () => {
  for (const address of refused) {
    it(`refusal rejects "${address}"`, () => assert.isTrue(isRefused(new Addresses(), address)))
  }

  it("refusal accepts public addresses", () => {
    for (const address of [...public4, ...public6]) assert.isFalse(isRefused(new Addresses(), address), address)
  })

  it("refusal names the kind of address and the setting", () => {
    const reason = Option.getOrThrow(new Addresses().refusal("169.254.169.254"))
    assert.match(reason, /^"169\.254\.169\.254" is a link-local or metadata address, .*EARSHOT_WEBHOOK_ALLOW$/)
  })

  it("parse allows a range and nothing outside of it", () => {
    const addresses = allowing(" 127.0.0.0/8, fd00::/8 ")
    for (const address of ["127.0.0.1", "127.9.9.9", "fd12::1"]) assert.isFalse(isRefused(addresses, address), address)
    for (const address of ["10.0.0.1", "fc00::1", "::1", "169.254.169.254"]) {
      assert.isTrue(isRefused(addresses, address), address)
    }
    assert.isFalse(isRefused(allowing("::1/128"), "::1"))
    assert.isTrue(isRefused(allowing("10.0.0.4/32"), "10.0.0.5"))
  })

  it("refusal also checks the IPv4 address embedded in an allowed address", () => {
    const addresses = allowing("64:ff9b::/96,2002::/16,2001::/32,::ffff:0:0/96")
    for (const address of ["64:ff9b::8.8.8.8", "2002:808:808::1", "2001:0:808:808::", "::ffff:8.8.8.8"]) {
      assert.isFalse(isRefused(addresses, address), address)
    }
    for (const address of ["64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001:0:a00:1::", "::ffff:10.0.0.1"]) {
      assert.isTrue(isRefused(addresses, address), address)
    }
  })

  it("refusal rejects a refused IPv4 address in every IPv6 form, even if the form is allowed", () => {
    const addresses = allowing("64:ff9b::/96,64:ff9b:1::/48,2002::/16,2001::/32,::ffff:0:0/96")
    const octet = fc.integer({ min: 0, max: 255 })
    fc.assert(
      fc.property(fc.tuple(octet, octet, octet, octet), ([a, b, c, d]) => {
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
        const expected = isRefused(new Addresses(), [a, b, c, d].join("."))
        for (const form of [
          `64:ff9b::${hex}`,
          `64:ff9b:1::${hex}`,
          `2002:${hex}::1`,
          `2001:0:${hex}::`,
          `::ffff:${hex}`
        ]) {
          assert.strictEqual(isRefused(addresses, form), expected, form)
        }
      })
    )
  })

  it("parse fails with a message for an invalid range", () => {
    for (const text of ["10.0.0.0", "10.0.0.0/33", "fd00::/129", "localhost/8", "10.0.0.0/8,,", "1/8", "10.0.0.0/-1"]) {
      const problem = Either.getOrElse(Either.flip(Addresses.parse(text)), () => "")
      assert.match(problem, /is not a range of addresses: write it like 10\.0\.0\.0\/8/, text)
    }
  })
})
