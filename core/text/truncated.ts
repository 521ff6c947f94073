/** At most `max` UTF-16 code units of a text; an ellipsis replaces the rest. */
export const truncated = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max)}…`)
