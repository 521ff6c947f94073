/** The web console: signs in with a key, then shows the pages. */
import { render } from "preact"
import { App } from "./App.tsx"
import { applyTheme } from "./theme.ts"

applyTheme()
const root = document.getElementById("console")
if (root !== null) render(<App />, root)
