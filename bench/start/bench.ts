/** Measures a start of the program: CPU relative to `node -e 0`, memory, and disk space. */
import { spawnSync } from "node:child_process"
import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { setTimeout as sleep } from "node:timers/promises"
import { type Figure, isSmoke, lower, median, reportFigures } from "../figures.ts"
import { cpuOf, memoryOf, serve } from "../program.ts"

const ROUNDS = isSmoke ? 1 : 7
/** Time for an idle service to settle. */
const SETTLED_MILLIS = isSmoke ? 500 : 10_000
/** In the units of `du -m` and `free -m`. */
const MEGABYTE = 1_048_576

const figures: Array<Figure> = []

const folder = mkdtempSync(join(tmpdir(), "earshot-bench-"))
try {
  if (existsSync("/proc/self/stat")) {
    const unit = median(rounds(() => cpuOfRun(["-e", "0"])))
    console.log(`u: the CPU of node -e 0, ${(unit / 1_000).toFixed(0)} ms`)
    commands(unit)
    await services(unit)
  } else {
    console.log("Skipped CPU and memory: /proc is not available")
  }
  sizes()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
reportFigures(figures)

// ---- helpers ----

function report(name: string, value: number, unit: string, target: number): void {
  console.log(`${name.padEnd(58)} ${value.toFixed(1).padStart(8)} ${unit.padEnd(3)} (at most ${target})`)
  figures.push(lower({ name, of: value, unit, target }))
}

function rounds(measure: () => number): ReadonlyArray<number> {
  return Array.from({ length: ROUNDS }, measure)
}

/** User and system time of a Node process, in microseconds. */
function cpuOfRun(args: ReadonlyArray<string>): number {
  const before = cpuOf("self").ofEndedChildren
  const { status } = spawnSync(process.execPath, args, { stdio: "ignore" })
  if (status !== 0) throw new Error(`"node ${args.join(" ")}" ended with ${status}`)
  return cpuOf("self").ofEndedChildren - before
}

function commands(unit: number): void {
  const inUnits = (args: ReadonlyArray<string>) => median(rounds(() => cpuOfRun(["dist/main.js", ...args]))) / unit
  report("earshot --version", inUnits(["--version"]), "u", 3)
  report("earshot check", inUnits(["check", "--platform", "x", "nasa lang:en"]), "u", 6)
}

async function services(unit: number): Promise<void> {
  const first: Array<Started> = []
  const again: Array<Started> = []
  for (let round = 0; round < Math.ceil(ROUNDS / 2); round++) {
    const dataDir = join(folder, `data-${round}`)
    first.push(await start(dataDir, "on"))
    again.push(await start(dataDir, "off"))
  }
  const of = (all: ReadonlyArray<Started>, field: keyof Started) => median(all.map((started) => started[field]))
  report("serve until ready, existing embedded store", of(again, "cpu") / unit, "u", 15)
  report("serve until ready, new embedded store", of(first, "cpu") / unit, "u", 20)
  report("peak memory of the first start", of(first, "peak"), "MB", 300)
  report("memory after the first start", of(first, "resident"), "MB", 200)
  report("memory, existing embedded store, no load", of(again, "resident"), "MB", 180)
}

interface Started {
  /** Until it listened, in microseconds. */
  readonly cpu: number
  readonly peak: number
  readonly resident: number
}

async function start(dataDir: string, demoFeed: "on" | "off"): Promise<Started> {
  const { pid, stop } = await serve({
    EARSHOT_DATA_DIR: dataDir,
    EARSHOT_DEMO_FEED: demoFeed,
    LOG_LEVEL: "error"
  })
  const cpu = cpuOf(pid).own
  await sleep(SETTLED_MILLIS)
  const started = { cpu, peak: memoryOf(pid, "VmHWM"), resident: memoryOf(pid, "VmRSS") }
  await stop()
  return started
}

function sizes(): void {
  report("installed for a developer", sizeOf("node_modules") / MEGABYTE, "MB", 550)
  if (isSmoke) return
  const npm = (args: ReadonlyArray<string>, cwd: string) => {
    const { status, stderr } = spawnSync("npm", args, { cwd, encoding: "utf8" })
    if (status !== 0) throw new Error(`"npm ${args.join(" ")}" failed: ${stderr}`)
  }
  npm(["pack", "--pack-destination", folder], ".")
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? ""
  npm(["install", "--prefix", ".", `./${tarball}`], folder)
  report("installed for a user", sizeOf(join(folder, "node_modules")) / MEGABYTE, "MB", 80)
}

/** Disk usage. Hard links count once. */
function sizeOf(path: string, seen = new Set<number>()): number {
  const about = lstatSync(path)
  if (seen.has(about.ino)) return 0
  seen.add(about.ino)
  const below = about.isDirectory() ? readdirSync(path).map((name) => sizeOf(join(path, name), seen)) : []
  return below.reduce((sum, size) => sum + size, about.blocks * 512)
}
