/** In Unicode notation: `U+200B`. */
export const codePointName = (code: number): string => `U+${code.toString(16).toUpperCase().padStart(4, "0")}`
