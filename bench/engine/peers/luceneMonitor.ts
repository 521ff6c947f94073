/** Lucene Monitor, from Debian's jars and the source of its module, which Debian ships only as source. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { type Contender, startContender } from "../contender.ts"
import { plainFile, rulesFile, type WorkloadName, workloads } from "../workload/workload.ts"

/** What picks the candidates: terms by their length, which is its default, or by how rare they are in the stream. */
export type Presearcher = "term" | "frequency"

/** Nothing when it can run; else what to do about it. */
export const luceneMonitorLacks = (): string | undefined => {
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

/** Gives the folder with the compiled classes. */
export const compileLuceneMonitor = (folder: string): string => {
  const classes = join(folder, "classes")
  mkdirSync(classes)
  const sources = readdirSync(monitorSource)
    .filter((file) => file.endsWith(".java"))
    .map((file) => join(monitorSource, file))
  // This file runs from .bench/engine, which has no Java.
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
    // The collector of one thread: it takes no time from the thread that is measured.
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
