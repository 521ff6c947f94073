/** A real browser for the tests of the console. */
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { delimiter, join } from "node:path"
import process from "node:process"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { diskFolder, withTemporaryFolder } from "../memoryDisk.ts"
import { ROOT } from "../program.ts"

/** Runs the tests in Chromium. Without one they are skipped with the reason; under `CI=true` they fail. */
export const describeInBrowser = (name: string, tests: (openPage: OpenPage) => void): void => {
  if (executable === undefined) {
    console.warn(`Skipped the tests "${name}": ${REMEDY}`)
    describe(name, () => {
      it.skipIf(process.env["CI"] !== "true")(`needs a browser: ${REMEDY}`, () => assert.fail(REMEDY))
    })
    return
  }
  describe(name, () => {
    let browser: Browser
    const contexts: Array<BrowserContext> = []
    const violations: Array<string> = []
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: executable.path, args: [...executable.args], headless: true })
    })
    afterAll(async () => {
      await Promise.all(contexts.map((context) => context.close()))
      await browser.close()
    })
    tests(async ({ viewport, colorScheme, ...options } = {}) => {
      const context = await browser.newContext({
        viewport: viewport ?? { width: 1_280, height: 800 },
        colorScheme: colorScheme ?? "light",
        locale: "en-GB",
        timezoneId: "UTC",
        ...options
      })
      contexts.push(context)
      const page = await context.newPage()
      page.setDefaultTimeout(30_000)
      page.on("console", (message) => {
        if (/Content Security Policy/i.test(message.text())) violations.push(message.text())
      })
      page.on("pageerror", (error) => violations.push(String(error)))
      return page
    })
    it("breaks no content security policy, and throws nothing", () => {
      assert.deepStrictEqual(violations, [])
    })
  })
}

export type OpenPage = (options?: Parameters<Browser["newContext"]>[0]) => Promise<Page>

// ---- helpers ----

const REMEDY =
  'no Chromium was found. Install one ("apt-get install chromium", or Chrome), or set CHROMIUM_PATH to its program'

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Once per machine. Other test processes may do the same, so the files appear in their place all at once. */
const unpacked = async (unpack: () => Promise<string>): Promise<string> => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "node_modules/@sparticuz/chromium/package.json"), "utf8"))
  const folder = join(diskFolder(), `earshot-chromium-${version}`)
  if (!existsSync(folder)) {
    const own = mkdtempSync(`${folder}-`)
    await withTemporaryFolder(own, unpack)
    try {
      renameSync(own, folder)
    } catch (cause) {
      rmSync(own, { recursive: true })
      if (!existsSync(folder)) throw cause
    }
  }
  return join(folder, "chromium")
}

const findExecutable = async (): Promise<
  { readonly path: string; readonly args: ReadonlyArray<string> } | undefined
> => {
  // The tests may run as root, in a container.
  const args = ["--no-sandbox"]
  const named = process.env["CHROMIUM_PATH"]
  if (named !== undefined) return { path: named, args }
  const installed = (process.env["PATH"] ?? "")
    .split(delimiter)
    .flatMap((folder) => PROGRAMS.map((program) => join(folder, program)))
    .find(isProgram)
  if (installed !== undefined) return { path: installed, args }
  // The package has a program for this system only.
  if (process.platform !== "linux" || process.arch !== "x64") return undefined
  const { default: packaged } = await import("@sparticuz/chromium")
  // In a single process, the browser ends with its first closed context.
  return {
    path: await unpacked(() => packaged.executablePath()),
    args: packaged.args.filter((arg) => arg !== "--single-process")
  }
}

const executable = await findExecutable()
