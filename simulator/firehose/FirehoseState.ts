/** The state of Firehose: the taps of one organization, its open streams and its counters. */
import { Either } from "effect"
import type { Checked } from "../../core/syntax/expression/checked.ts"
import { firehoseEvent } from "../../core/syntax/firehose/event.ts"
import * as Language from "../../core/syntax/firehose/language.ts"
import { type JsonObject, objectOf, textOf } from "../../core/text/json.ts"
import type { Cap, World } from "../World.ts"
import { Tap } from "./Tap.ts"

export interface FirehoseStream {
  readonly id: string
  readonly openedAt: number
  readonly sent: number
  readonly tap: Tap
  /** Makes the stream look for new matches. */
  readonly wake: () => void
  /** Ends the stream: its tap is deleted. */
  readonly end: () => void
}

export class FirehoseState {
  readonly world: World
  readonly taps: Array<Tap> = []
  readonly streams = new Set<FirehoseStream>()
  published = 0
  /** Every page takes an offset, matched or not, so the event ids of a tap have gaps. */
  nextOffset: number
  paidMatches = 0

  constructor(world: World, now: number) {
    this.world = world
    this.nextOffset = world.settings.firehose.first_offset
    this.taps.push(new Tap({ id: world.uuid(), name: "Simulator", now }))
  }

  tokenOf(tap: Tap): string {
    return tap.token ?? this.world.settings.firehose.tap_token
  }

  tapByToken(token: string | undefined): Tap | undefined {
    return this.taps.find((tap) => this.tokenOf(tap) === token)
  }

  get ruleCount(): number {
    return this.taps.reduce((sum, { rules }) => sum + rules.size, 0)
  }

  ruleCap(now: number): Cap {
    return this.world.effectiveCap("firehose", "rules", this.world.settings.firehose.rule_cap, now)
  }

  get hasCredits(): boolean {
    const { credits } = this.world.settings.firehose
    return credits === null || this.paidMatches < credits
  }

  check(value: string): Checked<Language.Rule> {
    return Language.check(value, { maxLength: this.world.settings.firehose.max_value_length })
  }

  dropRules(): void {
    for (const tap of this.taps) tap.dropRules()
    this.world.notify()
  }

  /** Left is the error for an invalid page. Right is the number of matched rules over all taps. */
  publish(payload: JsonObject, now: number): Either.Either<number, string> {
    return Either.map(firehoseEvent(payload, { now }), (event) => {
      const document = objectOf(payload["document"]) ?? {}
      const offset = this.nextOffset++
      this.published++
      const keepsUndated = this.world.settings.firehose.undated_pages === "kept"
      let matches = 0
      for (const tap of this.taps) {
        const ids = tap.match(event, document, { now, keepsUndated })
        matches += ids.length
        if (ids.length > 0) this.addMatch(tap, ids, { document, offset, now })
      }
      return matches
    })
  }

  private addMatch(
    tap: Tap,
    ids: ReadonlyArray<string>,
    page: { readonly document: JsonObject; readonly offset: number; readonly now: number }
  ): void {
    const { rule_ids, markdown } = this.world.settings.firehose
    const { markdown: given, ...rest } = withoutEmptyFields(page.document)
    const document = markdown === "always" ? { ...rest, markdown: given ?? `# ${rest["title"] ?? ""}` } : rest
    const matched_at = new Date(this.world.reportedTime("firehose", page.now)).toISOString()
    const url = textOf(document["url"])
    const add = (offset: number, rules: ReadonlyArray<string>) =>
      tap.matches.push({
        offset,
        at: page.now,
        json: JSON.stringify({
          tap_id: tap.id,
          ...(rule_ids === "query_ids" ? { query_ids: rules } : { query_id: rules[0] }),
          matched_at,
          document
        }),
        sent: { ...(url !== undefined && { url }), rules },
        isPaid: false
      })
    if (rule_ids === "query_ids") add(page.offset, ids)
    else for (const [index, id] of ids.entries()) add(index === 0 ? page.offset : this.nextOffset++, [id])
    for (const stream of this.streams) if (stream.tap === tap) stream.wake()
  }
}

// ---- helpers ----

/** Firehose omits null fields and empty lists. */
const withoutEmptyFields = (document: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(document).filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
  )
