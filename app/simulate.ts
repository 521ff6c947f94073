/** `earshot simulate`: runs the simulator of the platforms until it is stopped. */
import { Console, Effect } from "effect"
import type { SimulateOptions } from "../cli/simulate.ts"
import * as Simulator from "../simulator/Simulator.ts"
import { endpoints } from "../simulator/endpoints.ts"
import * as SimulatorServer from "../simulator/server.ts"

export const simulate = ({ port, seed, rate, tier, bluesky, wikimedia, feeds }: SimulateOptions) =>
  Effect.gen(function* () {
    const feed = {
      posts_per_second: rate,
      pages_per_second: rate,
      bluesky_per_second: bluesky ? rate : 0,
      changes_per_second: wikimedia ? rate : 0,
      // A feed that publishes faster shows not every item until it is read again.
      items_per_second: feeds ? rate / 60 : 0
    }
    const simulator = yield* Simulator.make({ seed, settings: { x: { tier }, feed } })
    const host = "127.0.0.1"
    const url = `http://${host}:${yield* SimulatorServer.serve(simulator, { host, port })}`
    const { x, firehose } = simulator.control.settings
    const others = [...(bluesky ? ["Bluesky"] : []), ...(wikimedia ? ["Wikimedia"] : []), ...(feeds ? ["feeds"] : [])]
    const served = ["X", "Firehose", ...others]
    yield* Console.log(
      [
        `The simulator serves ${served.slice(0, -1).join(", ")} and ${served.at(-1)} on ${url} (state, settings and faults: ${url}/control)`,
        "Point a client at it:",
        `  export X_BASE_URL=${url} X_BEARER_TOKEN=${x.bearer_token}`,
        `  export FIREHOSE_BASE_URL=${url} FIREHOSE_TAP_TOKEN=${firehose.tap_token}`,
        ...(bluesky ? [`  export BLUESKY_BASE_URL=${url} EARSHOT_BLUESKY=on`] : []),
        ...(wikimedia ? [`  export WIKIMEDIA_BASE_URL=${url} EARSHOT_WIKIMEDIA_CONTACT=simulator@example.org`] : []),
        ...(feeds ? [`  export EARSHOT_FEEDS=${feedUrls(url)} EARSHOT_FEED_ALLOW=127.0.0.0/8`] : []),
        `Firehose management key, for taps: ${firehose.management_key}`
      ].join("\n")
    )
    yield* Effect.never
  }).pipe(Effect.scoped)

// ---- helpers ----

const feedUrls = (url: string): string => endpoints.feeds.map((name) => `${url}/feeds/${name}`).join(",")
