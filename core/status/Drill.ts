/** Drill mode: a server that leaves the real platforms or the webhooks alone, such as one on a restored copy of a store. */
import { Context, Schema } from "effect"

const OnOrOff = Schema.Literal("on", "off")

export const Drill = Schema.Struct({
  upstream: OnOrOff.annotations({
    description: "off: no rule is registered or removed on a real platform, and no stream is opened"
  }),
  webhooks: OnOrOff.annotations({ description: "off: nothing is sent to webhooks, and messages stay queued" })
}).annotations({ identifier: "Drill" })
export type Drill = typeof Drill.Type

/** Of this server. */
export class DrillMode extends Context.Reference<DrillMode>()("core/DrillMode", {
  defaultValue: (): Drill => ({ upstream: "on", webhooks: "on" })
}) {}

export const isDrill = ({ upstream, webhooks }: Drill): boolean => upstream === "off" || webhooks === "off"

/** One sentence for each part that is off. */
export const describeDrill = (drill: Drill | undefined): ReadonlyArray<string> => [
  ...(drill?.upstream === "off" ? [UPSTREAM_OFF] : []),
  ...(drill?.webhooks === "off" ? [WEBHOOKS_OFF] : [])
]

export const UPSTREAM_OFF =
  "Upstream is off (EARSHOT_UPSTREAM=off): no rule is registered or removed on a real platform, and no stream is opened"

export const WEBHOOKS_OFF = "Webhooks are off (EARSHOT_WEBHOOKS=off): nothing is sent, and messages stay queued"
