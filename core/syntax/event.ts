/** Events of both platforms as a rule sees them. */
export type { Area, EventFields } from "./eventFields.ts"
export { firehoseEvent, firehoseEventId } from "./firehose/event.ts"
export type { Tokens } from "./firehose/tokens.ts"
export { xEvent, xEventId } from "./x/event.ts"
