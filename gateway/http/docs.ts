/** `/docs`: the API reference. The page loads nothing. */
import { Effect } from "effect"
import { type Files, fileReply } from "./files.ts"
import type { OpenRoute } from "./route.ts"

export interface DocsPage {
  readonly html: string
  /** Its content security policy. */
  readonly policy: string
}

/** `page` is made once, on the first request. */
export const docsRoute = (page: Effect.Effect<DocsPage>): Effect.Effect<OpenRoute<never>> =>
  Effect.gen(function* () {
    const prepared = yield* Effect.cached(
      Effect.gen(function* () {
        const { html, policy } = yield* page
        const plain = new TextEncoder().encode(html)
        const files: Files = new Map([
          [NAME, Effect.succeed(plain)],
          [`${NAME}.gz`, Effect.succeed(yield* gzip(plain))]
        ])
        return { files, policy }
      })
    )
    return {
      method: "GET",
      path: "/docs",
      reply: (request) =>
        Effect.flatMap(prepared, ({ files, policy }) =>
          fileReply(files, { name: NAME, type: "text/html; charset=utf-8", policy, request })
        )
    }
  })

// ---- helpers ----

const NAME = "docs.html"

const gzip = (bytes: Uint8Array<ArrayBuffer>): Effect.Effect<Uint8Array<ArrayBuffer>> =>
  Effect.promise(async () => {
    const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"))
    return new Uint8Array(await new Response(compressed).arrayBuffer())
  })
