#!/usr/bin/env node
import { existsSync } from "node:fs"
import process from "node:process"

const program = new URL("../dist/main.js", import.meta.url)
if (existsSync(program)) {
  await import(program.href)
} else {
  process.stderr.write('Earshot is not built yet: run "npm run build" first ("npm start" does that too)\n')
  process.exit(1)
}
