/** Runs the real program in a pseudo terminal, as a person meets it. */
import { execFileSync, spawn } from "node:child_process"
import { ROOT } from "./program.ts"

/** `script` of util-linux makes the terminal; others of that name take other options. */
export const HAS_TERMINAL = (() => {
  try {
    return execFileSync("script", ["--version"], { encoding: "utf8" }).includes("util-linux")
  } catch {
    return false
  }
})()

/** All that the terminal got to see, what went to standard error too. */
export const runInTerminal = (
  args: ReadonlyArray<string>,
  { columns, settings }: { readonly columns: number; readonly settings: Readonly<Record<string, string>> }
): Promise<string> => {
  const command = ["node", "dist/main.js", ...args].map((arg) => `'${arg.replaceAll("'", "'\\''")}'`).join(" ")
  const child = spawn("script", ["-qec", `stty cols ${columns}; ${command}`, "/dev/null"], {
    cwd: ROOT,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], TERM: "xterm", ...settings },
    stdio: ["ignore", "pipe", "inherit"]
  })
  return new Promise((resolve, reject) => {
    let seen = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      seen += text
    })
    child.once("error", reject)
    child.once("close", () => resolve(seen.replaceAll("\r\n", "\n")))
  })
}
