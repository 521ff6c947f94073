/** To be written. */
export const PlatformsPage = () => <h1>Platforms</h1>
