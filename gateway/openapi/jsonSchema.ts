/** JSON Schemas as other tools expect them. */

/** Without the ids and titles that Effect adds to unknown values: an id must be unique in a document. */
export const withoutIds = <A>(schema: A): A =>
  JSON.parse(JSON.stringify(schema), (name, part: unknown) =>
    (name === "$id" && typeof part === "string") || (name === "title" && part === "unknown") ? undefined : part
  )
