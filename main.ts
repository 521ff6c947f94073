#!/usr/bin/env node
/** The entry point. It loads only what the command needs; `app/` is the composition root. */
import process from "node:process"
import { VERSION } from "./app/version.ts"

const args = process.argv.slice(2)
const [first] = args
if (args.length === 1 && (first === "--version" || first === "-v")) {
  process.stdout.write(`${VERSION}\n`)
} else if (args.length === 1 && first === "serve") {
  // Without the command line, which is most of the code that a server does not need.
  const [{ run }, { serveAlone }] = await Promise.all([import("./app/run.ts"), import("./app/serve.ts")])
  run(serveAlone, { args, runsUntilStopped: true })
} else {
  const [{ run }, { commands, runsUntilStopped }] = await Promise.all([
    import("./app/run.ts"),
    import("./app/commands.ts")
  ])
  run(commands(args), { args, runsUntilStopped: runsUntilStopped(args) })
}
