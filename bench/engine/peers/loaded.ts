/** An engine that runs in Node, after loading its rules. */

export interface Loaded {
  readonly figures: LoadFigures
  /** The events in this engine's format. Training events come first. */
  readonly lines: ReadonlyArray<string>
  /** Only the returned function is timed. It gives line numbers of rules, from 0, valid until the next call. */
  readonly prepare: (line: string) => () => ReadonlyArray<number>
}

export interface LoadFigures {
  readonly addMicros?: number
  readonly bytesPerRule?: number
  /** Growth of the process per rule, to verify the figure above. */
  readonly processBytesPerRule?: number
  /** Rules tested on every event. */
  readonly unindexed?: number
  readonly calls?: CallFigures
}

/** In milliseconds. The collector's pauses are not part of the other figures. */
export interface CallFigures {
  readonly longestAdd: number | undefined
  readonly longestReplace: number | undefined
  readonly longestMatch: number | undefined
  readonly replaceP50: number
  readonly replaceP99: number
  readonly longestCollection: number
}
