/** Builds dist/console/: the web console, with each file compressed in advance. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"

const BASE = "/console/assets/"

/** Returns esbuild's description of the bundle. */
export async function buildConsole({ build }, root) {
  const folder = join(root, "dist", "console")
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { console: "console/main.tsx", style: "console/console.css" },
    outdir: join(folder, "assets"),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    publicPath: BASE,
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    tsconfig: "console/tsconfig.json",
    // React's packages, on Preact.
    alias: { react: "preact/compat", "react-dom": "preact/compat" },
    define: { "process.env.NODE_ENV": '"production"' },
    minify: true,
    legalComments: "none",
    metafile: true,
    logLevel: "warning"
  })
  const nameOf = (source) =>
    basename(Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === source)[0])
  const page = readFileSync(join(root, "console", "index.html"), "utf8").replace(
    "  </head>",
    `    <link rel="stylesheet" href="${BASE}${nameOf("console/console.css")}" />
    <script type="module" src="${BASE}${nameOf("console/main.tsx")}"></script>
  </head>`
  )
  writeFileSync(join(folder, "index.html"), page)
  for (const path of filesIn(folder)) compress(path)
  return metafile
}

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)]
  )
}

function compress(path) {
  const content = readFileSync(path)
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }
  writeFileSync(`${path}.br`, brotliCompressSync(content, brotli))
  writeFileSync(`${path}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }))
}
