/** `/console`: the files of the web console. No key is needed: the page asks for one and sends it with its calls. */
import { methodNotAllowed, noSuchPath, RequestError } from "../errors.ts"
import { type Files, fileReply } from "./files.ts"
import { pathOf } from "./handler.ts"
import type { Mount } from "./route.ts"

export const CONSOLE_PATH = "/console"

/** Whether there is a page to show. */
export const isBuilt = (files: Files): boolean => files.has(PAGE)

export const consoleMount = (files: Files): Mount<never> => ({
  prefix: CONSOLE_PATH,
  handle: (request) => {
    const path = pathOf(request.url)
    if (path !== CONSOLE_PATH && !path.startsWith(FOLDER)) return noSuchPath(path)
    if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed(request.method, path, ["GET"])
    if (!isBuilt(files)) return notBuilt
    const name = nameOf(path.slice(FOLDER.length))
    const type = contentTypes[name.slice(name.lastIndexOf(".") + 1)]
    if (type === undefined || !files.has(name)) return noSuchPath(path)
    return fileReply(files, { name, type, policy: POLICY, request, isImmutable: name.startsWith(ASSETS) })
  }
})

// ---- helpers ----

const FOLDER = `${CONSOLE_PATH}/`

const PAGE = "index.html"

/** Their names contain a hash of the content. */
const ASSETS = "assets/"

/** Other types are not served, which includes the compressed forms. */
const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  ico: "image/x-icon",
  woff2: "font/woff2"
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const notBuilt = new RequestError({
  status: 404,
  code: "not_found",
  message: 'The console is not built: run "npm run build" and start the server again',
  details: {}
})

/** The page has routes of its own: every path without a file extension shows it. */
const nameOf = (path: string): string => (path.startsWith(ASSETS) || /\.[^/]*$/.test(path) ? path : PAGE)
