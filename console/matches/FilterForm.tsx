/** Chooses the rule, the platform and the time. Each change goes to the address. */
import type { Rule } from "../client.ts"
import { platformName } from "../parts/platformName.ts"
import { type Filter, instantOf, localTimeOf } from "./filter.ts"

/** The key `/` goes there. */
export const FILTER_ID = "match-filter"

export const FilterForm = ({
  filter,
  rules,
  onChange
}: {
  readonly filter: Filter
  readonly rules: ReadonlyArray<Rule>
  readonly onChange: (filter: Filter) => void
}) => {
  const platforms = new Set([
    ...rules.flatMap((rule) => Object.keys(rule.platforms)),
    ...(filter.platform === undefined ? [] : [filter.platform])
  ])
  const isKnown = filter.rule === undefined || rules.some(({ id }) => id === filter.rule)
  const change = (name: keyof Filter, value: string | undefined) => {
    const { [name]: _, ...others } = filter
    onChange(value === undefined || value === "" ? others : { ...others, [name]: value })
  }
  const timeField = (name: "from" | "to") => ({
    type: "datetime-local",
    min: "2020-01-01T00:00",
    value: filter[name] === undefined ? "" : localTimeOf(filter[name]),
    onChange: ({ currentTarget: { value, validity } }: { readonly currentTarget: HTMLInputElement }) => {
      if (validity.valid) change(name, instantOf(value))
    }
  })
  return (
    <form class="match-filter" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
      <label>
        Rule
        <select
          id={FILTER_ID}
          value={filter.rule ?? ""}
          onChange={(event) => change("rule", event.currentTarget.value)}
        >
          <option value="">All rules</option>
          {!isKnown && <option value={filter.rule}>{filter.rule}</option>}
          {rules.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Platform
        <select value={filter.platform ?? ""} onChange={(event) => change("platform", event.currentTarget.value)}>
          <option value="">All platforms</option>
          {[...platforms].map((platform) => (
            <option key={platform} value={platform}>
              {platformName(platform)}
            </option>
          ))}
        </select>
      </label>
      <label>
        From
        <input {...timeField("from")} />
      </label>
      <label>
        To
        <input {...timeField("to")} />
      </label>
      {Object.keys(filter).length > 0 && (
        <button type="button" onClick={() => onChange({})}>
          Clear
        </button>
      )}
    </form>
  )
}
