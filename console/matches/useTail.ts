/** Loads the newest matches and follows the live tail for as long as the page is open. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { type Problem, problemOf, useTRPCClient } from "../client.ts"
import { cursorAt } from "./cursorAt.ts"
import { type Filter, queryOf } from "./filter.ts"
import { beforeOf, type Connection, firstPage, follow, PAGE } from "./follow.ts"
import { askingForOlder, type MatchMessage, released, type Tail, tailOf, withMessages, withOlder } from "./tail.ts"

export interface LiveTail {
  readonly tail: Tail | undefined
  /** `off`: the filter ends in the past. */
  readonly connection: Connection | "off"
  readonly problem: Problem | undefined
  readonly isLoadingOlder: boolean
  readonly loadOlder: () => void
  /** While it is held, new matches wait. */
  readonly hold: (isHeld: boolean) => void
}

/** The filter stays the same: use a key. */
export const useTail = (filter: Filter): LiveTail => {
  const client = useTRPCClient()
  const [tail, setTail] = useState<Tail>()
  const [connection, setConnection] = useState<LiveTail["connection"]>(filter.to === undefined ? "connecting" : "off")
  const [problem, setProblem] = useState<Problem>()
  const [isLoadingOlder, setLoadingOlder] = useState(false)
  const isHeld = useRef(false)

  useEffect(() => {
    const query = queryOf(filter)
    const end: { isClosed: boolean; timer?: Timer; stop?: () => void } = { isClosed: false }
    const messages: Array<MatchMessage> = []
    let flush: Timer | undefined

    // One drawing for all messages of a moment.
    const onMessage = (message: MatchMessage) => {
      messages.push(message)
      flush ??= setTimeout(() => {
        flush = undefined
        const arrived = messages.splice(0)
        setTail((tail) => tail && withMessages(tail, arrived, isHeld.current))
      }, FLUSH_MILLIS)
    }

    const start = async () => {
      end.stop?.()
      try {
        const { page, cursor } = await firstPage(client, query, beforeOf(filter.to, Date.now()))
        if (end.isClosed) return
        const first = tailOf(page, cursor, sinceOf(filter))
        setTail(first)
        setProblem(undefined)
        if (filter.to !== undefined) return
        end.stop = follow({
          client,
          query,
          cursor: first.cursor,
          onMessage,
          onConnection: (connection) => {
            setConnection(connection)
            if (connection === "live") setProblem(undefined)
          },
          onExpired: start,
          onProblem: setProblem
        })
      } catch (error) {
        if (end.isClosed) return
        const found = problemOf(error)
        setProblem(found)
        if (found.code === "unavailable") end.timer = setTimeout(start, RETRY_MILLIS)
      }
    }

    void start()
    return () => {
      end.isClosed = true
      end.stop?.()
      clearTimeout(end.timer)
      clearTimeout(flush)
    }
  }, [])

  const loadOlder = useCallback(async () => {
    if (tail?.older === undefined || isLoadingOlder) return
    setLoadingOlder(true)
    setTail(askingForOlder)
    try {
      const page = await client.matches.list.query({ ...queryOf(filter), cursor: tail.older, limit: PAGE })
      setTail((tail) => tail && withOlder(tail, page, sinceOf(filter)))
      setProblem(undefined)
    } catch (error) {
      setProblem(problemOf(error))
    }
    setLoadingOlder(false)
  }, [tail?.older, isLoadingOlder])

  const hold = useCallback((held: boolean) => {
    isHeld.current = held
    if (!held) setTail((tail) => tail && released(tail))
  }, [])

  return { tail, connection, problem, isLoadingOlder, loadOlder, hold }
}

// ---- helpers ----

type Timer = ReturnType<typeof setTimeout>

const FLUSH_MILLIS = 100
const RETRY_MILLIS = 2_000

/** The smallest id that the filter wants. */
const sinceOf = ({ from }: Filter): string | undefined => (from === undefined ? undefined : cursorAt(Date.parse(from)))
