/** The page and the API on one origin, as in production behind one proxy. */
import { defineConfig } from "vite"

export default defineConfig({
  server: { proxy: { "/trpc": process.env["EARSHOT_URL"] ?? "http://127.0.0.1:8787" } }
})
