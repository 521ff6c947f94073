/** The filter of the page, as it stands in the address. */

export interface Filter {
  readonly rule?: string
  readonly platform?: string
  /** ISO times in UTC. With `to` the page shows stored matches only. */
  readonly from?: string
  readonly to?: string
}

/** Leaves out times that are none. */
export const filterOf = (search: URLSearchParams): Filter => {
  const [rule, platform] = [search.get("rule"), search.get("platform")]
  const [from, to] = [instantIn(search.get("from")), instantIn(search.get("to"))]
  return {
    ...(rule && { rule }),
    ...(platform && { platform }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to })
  }
}

/** The address of the page with the filter. */
export const addressOf = (filter: Filter): string => {
  const search = new URLSearchParams({ ...filter }).toString()
  return search === "" ? "/matches" : `/matches?${search}`
}

/** The fields of the filter that the service knows. */
export const queryOf = ({ rule, platform }: Filter) => ({
  ...(rule !== undefined && { rule_id: rule }),
  ...(platform !== undefined && { platform })
})

/** For a field of the type `datetime-local`: in the reader's zone, to the minute. */
export const localTimeOf = (instant: string): string => {
  const date = new Date(instant)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** `undefined` for an empty field. */
export const instantOf = (localTime: string): string | undefined => instantIn(localTime)

// ---- helpers ----

const instantIn = (text: string | null): string | undefined => {
  const time = Date.parse(text ?? "")
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
