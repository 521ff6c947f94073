/** The state of Firehose: the taps of the one organization, and the log that all of them read from. */
import { Either } from "effect"
import { firehoseEvent } from "../../../core/syntax/firehose/event.ts"
import * as Language from "../../../core/syntax/firehose/language.ts"
import { type JsonObject, objectOf } from "../../../core/syntax/json.ts"
import type { World } from "../World.ts"
import type { FirehoseConnection } from "./FirehoseConnection.ts"
import { Tap } from "./Tap.ts"

export class FirehoseState {
  readonly world: World
  readonly taps: Array<Tap> = []
  readonly connections = new Set<FirehoseConnection>()
  published = 0
  /** Offset of the next page, whether or not it meets a rule: so the ids of one tap have gaps. */
  nextOffset: number
  paid = 0

  constructor(world: World, now: number) {
    this.world = world
    this.nextOffset = world.settings.firehose.first_offset
    this.taps.push(new Tap({ id: world.uuid(), name: "Simulator", now }))
  }

  tokenOf(tap: Tap): string {
    return tap.token ?? this.world.settings.firehose.tap_token
  }

  tapOf(token: string | undefined): Tap | undefined {
    return this.taps.find((tap) => this.tokenOf(tap) === token)
  }

  get ruleCount(): number {
    return this.taps.reduce((sum, { rules }) => sum + rules.size, 0)
  }

  /** The cap, which a fault may have lowered. */
  ruleCap(now: number): { readonly cap: number; readonly isLowered: boolean } {
    const { rule_cap } = this.world.settings.firehose
    const lowered = this.world.faults.peek("lower-caps", { platform: "firehose", now })?.rules
    return lowered !== undefined && lowered < rule_cap
      ? { cap: lowered, isLowered: true }
      : { cap: rule_cap, isLowered: false }
  }

  get hasCredits(): boolean {
    const { credits } = this.world.settings.firehose
    return credits === null || this.paid < credits
  }

  examine(value: string): Language.Checked {
    return Language.check(value, { maxLength: this.world.settings.firehose.max_value_length })
  }

  dropRules(): void {
    for (const tap of this.taps) tap.dropRules()
    this.world.changed()
  }

  /** Left says why it is no page. Right is the number of rules that it meets, of all taps. */
  publish(payload: JsonObject, now: number): Either.Either<number, string> {
    return Either.map(firehoseEvent(payload, { now }), (event) => {
      const document = objectOf(payload["document"]) ?? {}
      const offset = this.nextOffset++
      this.published++
      const keepsUndated = this.world.settings.firehose.undated_pages === "kept"
      let met = 0
      for (const tap of this.taps) {
        const ids = tap.met(event, document, { now, keepsUndated })
        met += ids.length
        if (ids.length > 0) this.log(tap, ids, { document, offset, now })
      }
      return met
    })
  }

  private log(
    tap: Tap,
    ids: ReadonlyArray<string>,
    page: { readonly document: JsonObject; readonly offset: number; readonly now: number }
  ): void {
    const { rule_ids, markdown } = this.world.settings.firehose
    const { markdown: given, ...rest } = withoutNothing(page.document)
    const document = markdown === "always" ? { ...rest, markdown: given ?? `# ${rest["title"] ?? ""}` } : rest
    const matched_at = new Date(this.world.told("firehose", page.now)).toISOString()
    const add = (offset: number, rules: JsonObject) =>
      tap.matches.push({
        offset,
        at: page.now,
        json: JSON.stringify({ tap_id: tap.id, ...rules, matched_at, document }),
        isPaid: false
      })
    if (rule_ids === "query_ids") add(page.offset, { query_ids: ids })
    else {
      // Each rule has a message of its own in the log, and so an offset.
      for (const [at, id] of ids.entries()) add(at === 0 ? page.offset : this.nextOffset++, { query_id: id })
    }
    for (const connection of this.connections) if (connection.tap === tap) connection.rouse()
  }
}

// ---- helpers ----

/** Firehose leaves out what is null or an empty list. */
const withoutNothing = (document: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(document).filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
  )
