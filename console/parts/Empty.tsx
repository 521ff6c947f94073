/** In place of an empty list: what to do next. */
import type { ComponentChildren } from "preact"

export const Empty = ({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <h2>{title}</h2>
    <div class="quiet">{children}</div>
  </div>
)
