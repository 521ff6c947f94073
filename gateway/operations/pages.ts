/** Answers with a list of any length. Pages are read and sent one after the other: this takes little memory and blocks nobody. */
import { Effect, Option, Runtime } from "effect"
import type { Contract } from "../../api/Contract.ts"
import type { AccountId } from "../../core/model/Ids.ts"
import { type PushBody, pushTexts } from "../../core/work/push.ts"
import { yieldIfTurnIsLong } from "../../core/work/turns.ts"
import type { Services } from "./Handlers.ts"
import { perform } from "./perform.ts"

/** An answer whose list goes on. */
export interface LongAnswer {
  /** Without the list. */
  readonly others: object
  readonly field: string
  /** The first page. Not empty. */
  readonly items: ReadonlyArray<unknown>
  /** The items of the further pages as JSON, each with a comma before it. */
  readonly further: () => AsyncGenerator<string>
}

/** None if the answer is complete: it has no further pages, or one page was asked for. */
export const longAnswer = <A, I, O, OI>(
  contract: Contract<A, I, O, OI>,
  account: AccountId,
  { input, answer }: { readonly input: A; readonly answer: O }
): Effect.Effect<Option.Option<LongAnswer>, never, Services> => {
  const { name, pagedField: field } = contract
  // Every operation with this field has these, too.
  const { limit } = input as { readonly limit?: number }
  const { next_cursor: first } = answer as Cursor
  if (field === undefined || first === undefined || limit !== undefined) return NONE
  const readAfter = (cursor: string) =>
    perform(contract, account, { input: { ...input, cursor }, key: Option.none() }).pipe(
      Effect.tapErrorCause((cause) => Effect.logError(`${name} failed after the first page`, cause)),
      // Several lists may be sent at the same time.
      Effect.zipLeft(yieldIfTurnIsLong)
    )
  const { [field]: items, next_cursor: _, ...others } = answer as O & Cursor
  return Effect.map(Effect.runtime<Services>(), (runtime) =>
    Option.some({
      others,
      field,
      items: items as ReadonlyArray<unknown>,
      further: async function* () {
        for (let cursor: string | undefined = first; cursor !== undefined; ) {
          const { answer }: { readonly answer: O } = await Runtime.runPromise(runtime)(readAfter(cursor))
          const json = JSON.stringify(answer[field]).slice(1, -1)
          if (json !== "") yield `,${json}`
          cursor = (answer as Cursor).next_cursor
        }
      }
    })
  )
}

/** A JSON object. */
export const bodyOf = (answer: LongAnswer): PushBody => pushTexts(textsOf(answer))

/** Inserts further pages into a body that other code encodes. */
export class Splicer {
  private readonly secret: string
  private readonly answers: Array<LongAnswer> = []

  /** `secret`: part of the marks. No data of the answers contains it. */
  constructor(secret: string) {
    this.secret = secret
  }

  get isNeeded(): boolean {
    return this.answers.length > 0
  }

  /** The answer to encode: with a mark where the further pages belong. */
  mark(answer: LongAnswer): object {
    const mark = `${this.secret}:${this.answers.push(answer) - 1}`
    return { ...answer.others, [answer.field]: [...answer.items, mark] }
  }

  /** Each chunk of `body` is a whole JSON text. */
  splice(body: ReadableStream<Uint8Array>): PushBody {
    return pushTexts(this.textsOf(body))
  }

  private async *textsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
    const decoder = new TextDecoder()
    const marks = new RegExp(`,"${this.secret}:(\\d+)"`)
    for await (const chunk of body) {
      // Every other part is the number of an answer.
      for (const [index, part] of decoder.decode(chunk, { stream: true }).split(marks).entries()) {
        const answer = index % 2 === 0 ? undefined : this.answers[Number(part)]
        if (answer === undefined) yield part
        else yield* answer.further()
      }
    }
  }
}

// ---- helpers ----

interface Cursor {
  readonly next_cursor?: string
}

const NONE = Effect.succeedNone

async function* textsOf({ others, field, items, further }: LongAnswer): AsyncGenerator<string> {
  // The list is the last field.
  yield JSON.stringify({ ...others, [field]: items }).slice(0, -2)
  yield* further()
  yield "]}"
}
