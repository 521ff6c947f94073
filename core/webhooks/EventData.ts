/** Port: what an event tells a subscribed client, in a form that is safe for the language model behind it. */
import { Context } from "effect"
import type { Match, Redaction } from "../matches/Match.ts"
import type { GapData } from "./gapMessages.ts"

export class EventData extends Context.Tag("core/EventData")<
  EventData,
  {
    /** At most 8 kB of JSON. Text by strangers is between marks with `word`, which they cannot guess. */
    readonly ofMatch: (match: Match, word: string) => object
    readonly ofRedaction: (redaction: Redaction) => object
    readonly ofGap: (gap: GapData) => object
  }
>() {}
