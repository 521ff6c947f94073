/** Reads the fields of a wiki change, an event of the stream `recentchange`. Any field may be missing or of another type. */
import { Either } from "effect"
import { instantOf, isTooDeep, type JsonObject, MAX_DEPTH, numberOf, objectOf, textOf } from "../../text/json.ts"
import type { Pace, Turns } from "../../work/turns.ts"
import { type FieldReader, LazyFields, type PlatformEvent } from "../expression/eventFields.ts"
import type { Field } from "../expression/expression.ts"
import { domainsOf } from "../firehose/domains.ts"
import { analyse, analyseInTurns } from "../firehose/tokens.ts"
import { writeWords } from "../firehose/writeWords.ts"
import type { Tokens } from "../words/tokens.ts"
import { commentsOf, separated } from "./summary.ts"

/** `now`, in milliseconds, is the time of matching. */
export const changeEvent = (record: unknown, now: number): Either.Either<PlatformEvent, string> =>
  Either.map(changeOf(record), (change) => new LazyFields(new ChangeReader(change, now)))

/** The digest of the event stands for a missing `meta.id`. */
export const changeId = (record: unknown, digest: (text: string) => string): Either.Either<string, string> =>
  Either.flatMap(changeOf(record), (change) => {
    const id = textOf(objectOf(change["meta"])?.["id"])
    if (id !== undefined) return Either.right(id)
    return isTooDeep(change)
      ? Either.left(`Not a wiki change: nested more than ${MAX_DEPTH} levels deep`)
      : Either.right(digest(JSON.stringify(change)))
  })

/** In milliseconds: when the wiki sent the event, or else the time of the edit, which is up to some seconds earlier. */
export const changeTime = (record: unknown): number | undefined => {
  const change = objectOf(record)
  const edited = numberOf(change?.["timestamp"])
  return instantOf(objectOf(change?.["meta"])?.["dt"]) ?? (edited === undefined ? undefined : edited * 1_000)
}

/** Events that only show that the stream is alive. */
export const isCanary = (record: unknown): boolean => objectOf(objectOf(record)?.["meta"])?.["domain"] === "canary"

// ---- helpers ----

const changeOf = (record: unknown): Either.Either<JsonObject, string> => {
  const change = objectOf(record)
  return change === undefined || objectOf(change["meta"]) === undefined
    ? Either.left('Not a wiki change: it has no "meta", an object with the "id" of the event')
    : Either.right(change)
}

class ChangeReader implements FieldReader {
  private readonly change: JsonObject
  private readonly now: number

  constructor(change: JsonObject, now: number) {
    this.change = change
    this.now = now
  }

  id(): string {
    return textOf(this.meta["id"]) ?? this.url ?? ""
  }

  analyse(text: string, field: Field): Tokens {
    return analyse(text, field === "firehose.title")
  }

  analyseInTurns(text: string, field: Field, pace: Pace): Turns<Tokens> {
    return analyseInTurns(text, field === "firehose.title", pace)
  }

  writeWords(text: string, field: Field): number {
    return writeWords(text, field === "firehose.title")
  }

  texts(field: Field): ReadonlyArray<string> {
    switch (field) {
      case "firehose.added":
        return commentsOf(this.change)
      case "firehose.title":
        return present(textOf(this.change["title"])).map(separated)
      default:
        return []
    }
  }

  values(field: Field): ReadonlyArray<string> {
    const { change, server } = this
    switch (field) {
      case "firehose.url":
        return present(this.url)
      case "firehose.domain":
        return server === undefined ? [] : domainsOf(`https://${server}/`)
      case "firehose.publish_time":
        return present(this.localTime)
      case "firehose.page_type":
        return present(textOf(change["type"]))
      case "firehose.language":
        return server === undefined ? [] : languagesOf(server)
      case "wikimedia.wiki":
        return present(textOf(change["wiki"]))
      case "wikimedia.user":
        return present(textOf(change["user"]))
      case "wikimedia.bot":
        return flag(change["bot"])
      case "wikimedia.minor":
        return flag(change["minor"])
      case "wikimedia.log":
        return logOf(change)
      default:
        return []
    }
  }

  number(field: Field): number | undefined {
    switch (field) {
      case "wikimedia.ns":
        return numberOf(this.change["namespace"])
      case "wikimedia.delta": {
        const length = objectOf(this.change["length"])
        const size = numberOf(length?.["new"])
        // A new page has no old length.
        return size === undefined ? undefined : size - (numberOf(length?.["old"]) ?? 0)
      }
      default:
        return undefined
    }
  }

  places() {
    return []
  }

  ageHours(): number | undefined {
    const at = changeTime(this.change)
    return at === undefined ? undefined : (this.now - at) / 3_600_000
  }

  private get meta(): JsonObject {
    return objectOf(this.change["meta"]) ?? {}
  }

  private get url(): string | undefined {
    return textOf(this.change["title_url"]) ?? textOf(this.meta["uri"])
  }

  private get server(): string | undefined {
    return textOf(this.change["server_name"]) ?? textOf(this.meta["domain"])
  }

  private get localTime(): string | undefined {
    const at = changeTime(this.change)
    return at === undefined || Math.abs(at) > MAX_DATE ? undefined : new Date(at).toISOString().slice(0, 19)
  }
}

/** Of a `Date`, in milliseconds. */
const MAX_DATE = 8.64e15

const present = (value: string | undefined): ReadonlyArray<string> => (value === undefined ? [] : [value])

const flag = (value: unknown): ReadonlyArray<string> => (typeof value === "boolean" ? [String(value)] : [])

/** The kind of a log entry with its action, and the kind alone. */
const logOf = (change: JsonObject): ReadonlyArray<string> => {
  const kind = textOf(change["log_type"])
  const action = textOf(change["log_action"])
  if (kind === undefined) return []
  return action === undefined ? [kind] : [`${kind}/${action}`, kind]
}

/** The label before a project that has a wiki per language. Chinese wikis have both scripts. */
const languagesOf = (server: string): ReadonlyArray<string> => {
  const [, code] = LANGUAGE_WIKI.exec(server) ?? []
  if (code === undefined) return []
  return code === "zh" ? ["zh", "zh-cn", "zh-tw"] : code === "simple" ? ["en"] : [code]
}

const LANGUAGE_WIKI =
  /^([a-z]{2,12}(?:-[a-z]{2,12}){0,3})\.wik(?:ipedia|tionary|ibooks|inews|iquote|isource|iversity|ivoyage)\.org$/
