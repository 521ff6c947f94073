/** To be written. */
export const KeysPage = () => <h1>Keys</h1>
