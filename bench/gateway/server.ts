/** One server with a new store, in its own process. Prints its port, then the answer to each command. */
import process from "node:process"
import { answerCommands, printJson } from "../childProcess.ts"

/** `location`: the URL of an empty database, or a folder that does not exist. */
const [name, location = ""] = process.argv.slice(2)

// Dynamic imports: a server loads only its own code.
printJson(
  name === "earshot"
    ? await (await import("./earshot.ts")).serve(location)
    : await (await import("./fastify.ts")).serve(location, name === "text")
)
await answerCommands({})
