/** To be written. */
export const MatchesPage = () => <h1>Matches</h1>
