/** Temporary files of the tests in memory: the stores sync at each commit, which takes milliseconds on a disk. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs"
import { freemem } from "node:os"
import process from "node:process"

/** Sets TMPDIR for this process and those that it starts, unless it is set or there is little memory. */
export const useMemoryDisk = (): void => {
  if (process.env["TMPDIR"] !== undefined || !hasMemoryDisk()) return
  for (const name of readdirSync(MEMORY)) {
    const [, pid] = OURS.exec(name) ?? []
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeLeft(`${MEMORY}/${name}`)
  }
  const folder = mkdtempSync(`${MEMORY}/earshot-tests-${process.pid}-`)
  // Postgres and some tests have another user.
  chmodSync(folder, 0o711)
  process.env["TMPDIR"] = folder
  process.once("exit", () => remove(folder))
}

/** For files that stay for the next run: the folder for temporary files on the disk. */
export const diskFolder = (): string => {
  const folder = process.env["TMPDIR"]
  return folder === undefined || OURS.test(folder) ? "/tmp" : folder
}

/** The work sees another folder for temporary files. */
export const withTemporaryFolder = async <A>(folder: string, work: () => Promise<A>): Promise<A> => {
  const before = process.env["TMPDIR"]
  process.env["TMPDIR"] = folder
  return work().finally(() => {
    if (before === undefined) delete process.env["TMPDIR"]
    else process.env["TMPDIR"] = before
  })
}

// ---- helpers ----

const MEMORY = "/dev/shm"

const OURS = /earshot-tests-(\d+)-/

const MIN_BYTES = 4 * 1024 ** 3

/** Programs are started from there too. */
const hasMemoryDisk = (): boolean => {
  if (!existsSync(MEMORY) || !existsSync("/proc/mounts") || freemem() < MIN_BYTES) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  const [mount = "noexec"] = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .filter((line) => line.includes(` ${MEMORY} `))
  return bavail * bsize >= MIN_BYTES && !/\bnoexec\b/.test(mount)
}

/** A run that was killed may have left a disk mounted in it. */
const removeLeft = (folder: string): void => {
  try {
    remove(folder)
  } catch (cause) {
    console.warn(`Cannot remove ${folder}, which an earlier test run has left: ${cause}`)
  }
}

const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true })
