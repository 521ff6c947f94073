/** Examples of a language to start from, and the help of its operators. */
import { useState } from "preact/hooks"
import { platformName } from "../parts/platformName.ts"
import { insertionOf, type SyntaxHelp } from "./completion.ts"
import { Prose } from "./Prose.tsx"

export const Examples = ({
  examples,
  onUse
}: {
  readonly examples: SyntaxHelp["examples"]
  readonly onUse: (text: string) => void
}) => (
  <ul class="examples">
    {examples.map(({ rule, description }) => (
      <li key={rule}>
        <button type="button" class="plain code" onClick={() => onUse(rule)}>
          {rule}
        </button>
        <p class="quiet">{description}</p>
      </li>
    ))}
  </ul>
)

export const LanguageGuide = ({
  platform,
  help,
  onUse,
  onAdd
}: {
  readonly platform: string
  readonly help: SyntaxHelp
  readonly onUse: (text: string) => void
  /** Adds an operator to the filter. */
  readonly onAdd: (text: string) => void
}) => {
  const [search, setSearch] = useState("")
  const words = search.toLowerCase().split(/\s+/)
  const found = help.operators.filter(({ name, description }) =>
    words.every((word) => `${name} ${description}`.toLowerCase().includes(word))
  )
  return (
    <details class="guide">
      <summary>Operators and examples</summary>
      <p>{help.summary}</p>
      <label class="guide-search">
        Search {platformName(platform)} operators
        <input
          type="search"
          value={search}
          placeholder="language, link, account…"
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </label>
      <dl class="operators">
        {found.map((operator) => {
          const insertion = insertionOf(operator, help.operators)
          return (
            <div key={operator.name}>
              <dt>
                <code>{operator.name}</code>
                {insertion !== undefined && (
                  <button
                    type="button"
                    class="plain"
                    aria-label={`Add ${insertion} to the filter`}
                    onClick={() => onAdd(insertion)}
                  >
                    Add
                  </button>
                )}
              </dt>
              <dd>
                <Prose>{operator.description}</Prose>. Example: <code>{operator.example}</code>
              </dd>
            </div>
          )
        })}
      </dl>
      {found.length === 0 && <p class="quiet">No operators found.</p>}
      <h3>Examples</h3>
      <Examples examples={help.examples} onUse={onUse} />
    </details>
  )
}
