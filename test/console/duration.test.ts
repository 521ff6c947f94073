import { assert, it } from "@effect/vitest"
import { duration } from "../../console/parts/duration.ts"

it("duration names the two largest units", () => {
  const cases = [
    [0, "0 ms"],
    [340, "340 ms"],
    [12_000, "12 s"],
    [60_000, "1 min"],
    [200_000, "3 min 20 s"],
    [7_500_000, "2 h 5 min"],
    [356_400_000, "4 d 3 h"]
  ] as const
  for (const [millis, text] of cases) assert.strictEqual(duration(millis), text)
})
