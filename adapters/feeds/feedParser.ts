/** The thread in which feeds are parsed: see `parser.ts`. */
import { createHash } from "node:crypto"
import { parentPort } from "node:worker_threads"
import { type FeedDocument, parseDocument } from "./parser.ts"

const digest = (text: string): string => createHash("sha256").update(text).digest("hex")

parentPort?.on("message", (document: FeedDocument) => parentPort?.postMessage(parseDocument(document, digest)))
