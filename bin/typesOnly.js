/** What a program gets that imports the package itself: the package exports types and is no library. */
throw new Error(
  'The package "earshot" exports types alone: write import type { AppRouter } from "earshot" and connect with @trpc/client, or run the program: npx earshot serve'
)
