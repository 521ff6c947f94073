/** What an engine that runs in Node is to the benchmark once it holds its rules. */

export interface Loaded {
  readonly figures: LoadFigures
  /** The workload's events as this engine is given them; the training events come first. */
  readonly lines: ReadonlyArray<string>
  /**
   * Reading the line is not timed; the function it gives is: the rules that hold, by their line in the file of rules,
   * from 0, valid until the next call.
   */
  readonly prepare: (line: string) => () => ReadonlyArray<number>
}

export interface LoadFigures {
  readonly addMicros?: number
  readonly bytesPerRule?: number
  /** What the process grew by for each rule, as a check on the figure above. */
  readonly processBytesPerRule?: number
  /** Rules that every event is tested on. */
  readonly unindexed?: number
  readonly calls?: CallFigures
}

/** Of single calls, in milliseconds. The longest time that the garbage collector took is no part of the others. */
export interface CallFigures {
  readonly longestAdd: number | undefined
  readonly longestReplace: number | undefined
  readonly longestMatch: number | undefined
  readonly replaceP50: number
  readonly replaceP99: number
  readonly longestCollection: number
}
