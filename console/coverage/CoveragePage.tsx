/** To be written. */
export const CoveragePage = () => <h1>Coverage</h1>
