/** The fields of a Firehose update. */
import type { FieldNames } from "../expression/FieldNames.ts"

export const fieldNames = {
  text: {
    "firehose.added": "text that the page gained",
    "firehose.removed": "text that the page lost",
    "firehose.added_anchor": "a link text that the page gained",
    "firehose.removed_anchor": "a link text that the page lost",
    "firehose.title": "the title of the page"
  },
  keyword: {
    "firehose.url": { name: "The address of the page" },
    "firehose.domain": { name: "The domain of the page" },
    "firehose.publish_time": { name: "The publication time of the page" },
    "firehose.page_category": { name: "A category of the page", isCoarse: true },
    "firehose.page_type": { name: "A type of the page", isCoarse: true },
    "firehose.language": { name: "The language of the page", isCoarse: true }
  },
  number: {
    "firehose.dr": "The Domain Rating of the site"
  }
} satisfies FieldNames
