/** Serves the page and the API on one origin, like a reverse proxy in production. */
import { defineConfig } from "vite"

export default defineConfig({
  server: { proxy: { "/trpc": process.env["EARSHOT_URL"] ?? "http://127.0.0.1:8787" } }
})
