/** In place of what is being loaded. Shown late by the style sheet, so that quick answers do not flicker. */
export const Waiting = () => (
  <p class="waiting" role="status">
    Loading…
  </p>
)
