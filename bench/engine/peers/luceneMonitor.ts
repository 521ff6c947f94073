/** Lucene Monitor, from Debian's jars. Debian ships the monitor module only as source. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { type Contender, startContender } from "../contender.ts"
import { plainFile, rulesFile, type WorkloadName, workloads } from "../workload/workload.ts"

/** How candidates are selected: by term length (the default), or by term frequency in the stream. */
export type Presearcher = "term" | "frequency"

/** Undefined if it can run, else the command to install what is missing. */
export const luceneMonitorMissing = (): string | undefined => {
  const missing = [
    ...(hasCommand("javac") ? [] : ["default-jdk-headless"]),
    ...(jars().length === JARS.length ? [] : ["liblucene8-java"])
  ]
  if (missing.length > 0) return `apt-get install ${missing.join(" ")}`
  return existsSync(monitorSource)
    ? undefined
    : [
        `mkdir -p ${cacheFolder} && cd ${cacheFolder}`,
        "apt-get source --download-only lucene8   (with a deb-src line in the sources of apt)",
        `tar xf lucene8_${VERSION}.orig.tar.xz`,
        `(or set LUCENE_SOURCE to a folder with the unpacked lucene-${VERSION})`
      ].join("\n    ")
}

/** Returns the folder of the compiled classes. */
export const compileLuceneMonitor = (folder: string): string => {
  const classes = join(folder, "classes")
  mkdirSync(classes)
  const sources = readdirSync(monitorSource)
    .filter((file) => file.endsWith(".java"))
    .map((file) => join(monitorSource, file))
  // This file is bundled to .bench/engine, which has no Java sources.
  const program = fileURLToPath(new URL("../../bench/engine/lucene/MonitorBench.java", import.meta.url))
  execFileSync("javac", ["-nowarn", "-d", classes, "-cp", jars().join(":"), ...sources, program], { stdio: "pipe" })
  return classes
}

export const startLuceneMonitor = (options: {
  readonly folder: string
  readonly classes: string
  readonly presearcher: Presearcher
  readonly workload: WorkloadName
  readonly count: number
}): Promise<Contender> => {
  const { folder, classes, presearcher, workload, count } = options
  return startContender("java", [
    // A single-threaded collector takes no time from the measured thread.
    "-XX:+UseSerialGC",
    "-Xmx8g",
    "-cp",
    [classes, ...jars()].join(":"),
    "MonitorBench",
    presearcher,
    plainFile(folder, workload),
    rulesFile(folder, workload, count),
    String(count),
    String(workloads[workload].training)
  ])
}

// ---- helpers ----

const VERSION = "8.8.1"
const cacheFolder = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "earshot-bench")
const monitorSource = join(
  process.env["LUCENE_SOURCE"] ?? join(cacheFolder, `lucene-${VERSION}`),
  "monitor/src/java/org/apache/lucene/monitor"
)

const JARS = ["core", "memory", "analyzers-common", "queries"]
const JAR_FOLDER = "/usr/share/java"

function jars(): ReadonlyArray<string> {
  const files = existsSync(JAR_FOLDER) ? readdirSync(JAR_FOLDER) : []
  return JARS.flatMap((name) => files.filter((file) => new RegExp(`^lucene-${name}-8[.0-9]*\\.jar$`).test(file))).map(
    (file) => join(JAR_FOLDER, file)
  )
}

function hasCommand(command: string): boolean {
  return (process.env["PATH"] ?? "").split(":").some((folder) => existsSync(join(folder, command)))
}
