/** The parts of the OpenAPI document that the page `/docs` reads. */
import type { Field, Known, SchemaObject } from "./fieldsHtml.ts"

export interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>
  readonly components: {
    readonly schemas: Known["schemas"]
    readonly headers: Readonly<Record<string, Header>>
    readonly responses: Readonly<Record<string, Response>>
    readonly securitySchemes: { readonly apiKey: { readonly description: string } }
  }
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: ReadonlyArray<string>
  readonly parameters?: ReadonlyArray<Field & { readonly name: string; readonly in: string }>
  readonly requestBody?: { readonly content: Contents }
  readonly responses: Readonly<Record<string, Response>>
}

export interface Response {
  readonly $ref?: string
  readonly description: string
  readonly headers?: Readonly<Record<string, Header>>
  readonly content?: Contents
}

export interface Header {
  readonly $ref?: string
  readonly description?: string
  readonly schema: SchemaObject
}

export type Contents = Readonly<Record<string, Media>>

export interface Media {
  readonly schema: SchemaObject
  readonly "x-itemSchema"?: SchemaObject
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

export interface Entry {
  readonly method: string
  readonly path: string
  readonly operation: Operation
  /** Absent for a message that the server sends. */
  readonly scope?: string
}
