/** How many issues of a request or a filter are shown. */

/** The maximum number of issues in the result of a check, and in an error. */
export const MAX_ISSUES = 20

/** For a last issue, which stands for those that are left out. */
export const describeOmitted = (count: number): string =>
  count === 1 ? "1 more issue is not shown" : `${count} more issues are not shown`
