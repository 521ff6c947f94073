/** Entry point of the package for imports of values, which it does not have: it exports only types. */
throw new Error(
  'The package "earshot" exports only types: use import type { AppRouter } from "earshot" with @trpc/client, or run the program with npx earshot serve'
)
