/** Runs the real program in a pseudo-terminal. */
import { execFileSync, spawn } from "node:child_process"
import { ROOT } from "./program.ts"

/** Needs `script` of util-linux; other versions have different options. */
export const HAS_TERMINAL = (() => {
  try {
    return execFileSync("script", ["--version"], { encoding: "utf8" }).includes("util-linux")
  } catch {
    return false
  }
})()

/** Everything shown in the terminal, including standard error. */
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
    let output = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text
    })
    child.once("error", reject)
    child.once("close", () => resolve(output.replaceAll("\r\n", "\n")))
  })
}
