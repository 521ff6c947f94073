/**
 * The accounts whose handles rules name: posts have their DIDs only. They are looked up when the rules are registered,
 * and again when they may have changed. Until all of them are known, a rule is incomplete: posts do not match by handle.
 */
import { Array as Arr, Effect, Option, Schedule, type Scope } from "effect"
import { authorOf, Post } from "../../core/syntax/bluesky/Post.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import { Unreachable } from "../http/call.ts"
import { MAX_PER_CALL, type Profile } from "./publicApi.ts"

/** DIDs by handle. `trouble`: why some could not be looked up. Without it, no account has those that are missing. */
export interface Resolved {
  readonly accounts: ReadonlyMap<string, string>
  readonly trouble: string | undefined
}

export interface NamedAccounts {
  /** Asks for those that are not known, for some seconds at most. */
  readonly resolve: (handles: Iterable<string>) => Effect.Effect<Resolved>
  /** The rule names these handles, until `drop`. One that was incomplete is complete only after `complete` left it out. */
  readonly keep: (platformRuleId: string, handles: ReadonlySet<string>, accounts: Resolved["accounts"]) => void
  readonly drop: (platformRuleIds: ReadonlyArray<string>) => void
  /** Those of the rules that are complete. The caller registers the others again, and reports what they have missed. */
  readonly complete: <A extends { readonly platformRuleId: string }>(rules: ReadonlyArray<A>) => ReadonlyArray<A>
  readonly hasIncomplete: () => boolean
  /** The handles that rules name, by DID, of those that the post is by, to or about. */
  readonly handlesOf: (payload: Record<string, unknown>) => ReadonlyArray<readonly [did: string, handle: string]>
  /** The account may have another handle: `said` is what it claims. Both are looked up again in the background. */
  readonly recheck: (did: string, said: string | undefined) => void
}

/** Looks up handles until the scope closes. */
export const makeNamedAccounts = (
  profilesOf: (actors: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Profile>, Unreachable>
): Effect.Effect<NamedAccounts, never, Scope.Scope> =>
  Effect.gen(function* () {
    /** Of the rules that name any, by id. */
    const handlesIn = new Map<string, ReadonlySet<string>>()
    /** Ids, by handle. */
    const rulesWith = new Map<string, Set<string>>()
    /** With whether `complete` has left it out since then. */
    const incomplete = new Map<string, boolean>()
    const handleOf = new Map<string, string>()
    const accountOf = new Map<string, string>()
    /** Handles that another account may have now, and how often they are still to be looked up. */
    const doubtful = new Map<string, number>()
    const hasDoubtful = yield* Effect.makeLatch()
    const doubt = (handle: string, checks: number) => {
      doubtful.set(handle, checks)
      hasDoubtful.unsafeOpen()
    }

    const assign = (handle: string, did: string) => {
      release(handle)
      const former = handleOf.get(did)
      if (former !== undefined) release(former)
      handleOf.set(did, handle)
      accountOf.set(handle, did)
    }
    const release = (handle: string) => {
      const did = accountOf.get(handle)
      accountOf.delete(handle)
      if (did !== undefined) handleOf.delete(did)
      for (const rule of rulesWith.get(handle) ?? []) if (!incomplete.has(rule)) incomplete.set(rule, false)
    }

    const resolve = (handles: Iterable<string>) =>
      Effect.gen(function* () {
        const [unknown, known] = Arr.partition([...handles], (handle) => accountOf.has(handle))
        const accounts = new Map(known.flatMap((handle) => withAccount(handle, accountOf.get(handle))))
        const ask = Effect.forEach(
          Arr.chunksOf(unknown, MAX_PER_CALL),
          (some) =>
            Effect.map(profilesOf(some), (profiles) => {
              for (const { did, handle } of profiles) if (some.includes(handle)) accounts.set(handle, did)
            }),
          { discard: true }
        )
        const trouble = yield* Effect.flip(
          Effect.timeoutFail(ask, {
            duration: LOOK_UP_LIMIT,
            onTimeout: () => new Unreachable({ reason: "it did not answer in time" })
          })
        ).pipe(
          Effect.map(({ reason }) => reason),
          Effect.orElseSucceed(() => undefined)
        )
        return { accounts, trouble }
      })

    const lookAgain = Effect.gen(function* () {
      yield* hasDoubtful.await
      yield* Effect.sleep(RECHECK)
      const handles = [...doubtful.keys()].slice(0, MAX_PER_CALL)
      const found = yield* Effect.option(profilesOf(handles))
      if (Option.isNone(found)) return
      for (const handle of handles) {
        const left = (doubtful.get(handle) ?? 0) - 1
        doubtful.delete(handle)
        if (!found.value.some((profile) => profile.handle === handle && profile.did === accountOf.get(handle))) {
          release(handle)
        } else if (left > 0) doubtful.set(handle, left)
      }
      if (doubtful.size === 0) yield* hasDoubtful.close
    })
    yield* Effect.forkScoped(Effect.forever(lookAgain))
    // Not every change comes in the stream.
    const doubtAll = Effect.sync(() => {
      for (const handle of accountOf.keys()) if (!doubtful.has(handle)) doubt(handle, 1)
    })
    yield* Effect.forkScoped(Effect.repeat(doubtAll, Schedule.spaced("1 day")))

    return {
      resolve,
      keep: (platformRuleId, handles, accounts) => {
        if (handles.size === 0) return
        for (const handle of handles) {
          const did = accounts.get(handle)
          if (did !== undefined && accountOf.get(handle) !== did) assign(handle, did)
          rulesWith.set(handle, (rulesWith.get(handle) ?? new Set()).add(platformRuleId))
        }
        handlesIn.set(platformRuleId, handles)
        const isKnown = [...handles].every((handle) => accountOf.has(handle))
        if (!isKnown) incomplete.set(platformRuleId, false)
        else if (incomplete.get(platformRuleId) === true) incomplete.delete(platformRuleId)
      },
      drop: (platformRuleIds) => {
        for (const platformRuleId of platformRuleIds) {
          for (const handle of handlesIn.get(platformRuleId) ?? []) {
            const rules = rulesWith.get(handle)
            rules?.delete(platformRuleId)
            if (rules?.size !== 0) continue
            rulesWith.delete(handle)
            doubtful.delete(handle)
            release(handle)
          }
          handlesIn.delete(platformRuleId)
          incomplete.delete(platformRuleId)
        }
      },
      complete: (rules) =>
        rules.filter(({ platformRuleId }) => {
          if (!incomplete.has(platformRuleId)) return true
          incomplete.set(platformRuleId, true)
          return false
        }),
      hasIncomplete: () => incomplete.size > 0,
      handlesOf: (payload) => {
        if (handleOf.size === 0) return []
        const post = Post.of(payload)
        const dids = typeof post === "string" ? [] : accountsOf(post)
        return dids.flatMap((did) => withAccount(did, handleOf.get(did)))
      },
      recheck: (did, said) => {
        for (const handle of [handleOf.get(did), said]) {
          if (handle !== undefined && accountOf.has(handle)) doubt(handle, CHECKS)
        }
      }
    }
  })

/** The handles that an expression compares accounts with. */
export const handlesIn = (expression: Expression, found = new Set<string>()): ReadonlySet<string> => {
  switch (expression._tag) {
    case "And":
    case "Or":
      for (const clause of expression.clauses) handlesIn(clause, found)
      return found
    case "Not":
      return handlesIn(expression.clause, found)
    case "Equals":
      if (accountFields.has(expression.field) && !/^(did|at):/.test(expression.value)) found.add(expression.value)
      return found
    default:
      return found
  }
}

// ---- helpers ----

const accountFields: ReadonlySet<string> = new Set(["x.from", "x.to", "x.mention", "bluesky.quotes"])

const accountsOf = (post: Post): ReadonlyArray<string> =>
  [post.did, ...post.mentions, authorOf(post.repliedTo), authorOf(post.quoted)].flatMap((did) => did ?? [])

const withAccount = (one: string, other: string | undefined): ReadonlyArray<readonly [string, string]> =>
  other === undefined ? [] : [[one, other]]

/** Other changes of rules wait meanwhile. */
const LOOK_UP_LIMIT = "5 seconds"

/** Bluesky learns of a change some seconds after the stream, so it is asked several times. */
const RECHECK = "10 seconds"
const CHECKS = 3
