/** The address of a service in place of the platform's own. */
import { assert, describe, it } from "@effect/vitest"
import { otherAddress } from "../../../adapters/http/otherAddress.ts"

describe("otherAddress", () => {
  const own = ["https://api.x.com"]

  it("is absent for the platform's own service, however it is spelled", () => {
    for (const url of ["https://api.x.com", "https://api.x.com/", "https://API.X.com:443/2"]) {
      assert.deepStrictEqual(otherAddress(url, own), {})
    }
  })

  it("is the origin of any other, without credentials, path and query", () => {
    const address = "http://127.0.0.1:9797"
    assert.deepStrictEqual(otherAddress("http://me:secret@127.0.0.1:9797/a?b=c", own), { address })
    assert.deepStrictEqual(otherAddress("http://api.x.com", own), { address: "http://api.x.com" })
  })
})
