/** The same two endpoints, written for trpc-to-openapi and served by its handler. */
import { initTRPC, TRPCError } from "@trpc/server"
import { createOpenApiFetchHandler, type OpenApiMeta } from "trpc-to-openapi"
import { z } from "zod"
import { coverage, KEY, rules, select } from "./data.ts"

export const handler = (request: Request): Promise<Response> =>
  createOpenApiFetchHandler({
    endpoint: "/",
    req: request,
    router,
    createContext: ({ req }) => ({ key: /^Bearer (.+)$/i.exec(req.headers.get("authorization") ?? "")?.[1] })
  })

// ---- helpers ----

const t = initTRPC.context<{ readonly key: string | undefined }>().meta<OpenApiMeta>().create()

const procedure = t.procedure.use(({ ctx, next }) => {
  if (ctx.key !== KEY) throw new TRPCError({ code: "UNAUTHORIZED" })
  return next()
})

const Platform = z.enum(["x", "firehose"])

const Match = z.object({
  id: z.string(),
  rule_id: z.string(),
  rule_version: z.number(),
  created_at: z.string(),
  platform: Platform,
  platform_post_id: z.string(),
  payload: z.record(z.string(), z.unknown())
})

const Gap = z.object({
  rule_id: z.string().optional(),
  from: z.string(),
  to: z.string().optional(),
  cause: z.string(),
  detail: z.string(),
  recovered: z.boolean()
})

const Coverage = z.object({
  from: z.string().optional(),
  to: z.string(),
  platforms: z.array(
    z.object({
      platform: Platform,
      watched_since: z.string().optional(),
      watched_until: z.string().optional(),
      gaps: z.array(Gap),
      more_gaps: z.boolean(),
      suspected: z.array(z.object({ from: z.string(), to: z.string(), detail: z.string() }))
    })
  ),
  kept_since: z.string().optional()
})

const Rule = z.object({
  id: z.string(),
  name: z.string(),
  intent: z.string(),
  platforms: z.partialRecord(
    Platform,
    z.object({
      platform_rule_id: z.string(),
      translated_value: z.string(),
      state: z.enum(["pending", "active", "removing"])
    })
  ),
  created_at: z.string(),
  version: z.number()
})

const router = t.router({
  listMatches: procedure
    .meta({ openapi: { method: "POST", path: "/matches" } })
    .input(
      z.object({
        rule_id: z.string().optional(),
        platform: Platform.optional(),
        limit: z.number().int().min(1).max(500).default(50),
        cursor: z.string().optional()
      })
    )
    .output(z.object({ matches: z.array(Match), next_cursor: z.string().optional(), coverage: Coverage }))
    .query(({ input }) => ({ matches: select(input), coverage: coverage() })),
  listRules: procedure
    .meta({ openapi: { method: "GET", path: "/api.ListRules" } })
    .input(z.object({}))
    .output(z.object({ rules: z.array(Rule) }))
    .query(() => ({ rules }))
})
