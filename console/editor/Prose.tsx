/** A sentence of the service: what is between backticks is code. */

export const Prose = ({ children }: { readonly children: string }) => (
  <>{children.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
)
