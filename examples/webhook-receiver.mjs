// Receives matches from Earshot: node examples/webhook-receiver.mjs whsec_…
// Outside of a clone, install its dependency first: npm install standardwebhooks
import { createServer } from "node:http"
import process from "node:process"
import { Webhook } from "standardwebhooks"

const secret = process.argv[2] ?? ""
if (!/^whsec_[A-Za-z0-9+/]+=*$/.test(secret)) {
  console.error("Usage: node examples/webhook-receiver.mjs whsec_…, with the secret of the webhook")
  process.exit(2)
}

const webhook = new Webhook(secret)
const seen = new Set()

createServer(async (request, response) => {
  let body = ""
  for await (const chunk of request.setEncoding("utf8")) body += chunk
  try {
    const { type, data } = webhook.verify(body, request.headers)
    // A message is sent again if our response got lost. The id stays the same: use it to dedupe.
    const id = request.headers["webhook-id"]
    if (seen.has(id)) console.log("duplicate", id)
    else if (type === "match.created") console.log(data.created_at, data.platform, data.id)
    else console.log(type)
    seen.add(id)
    response.writeHead(204).end()
  } catch (error) {
    console.error(error.message)
    response.writeHead(400).end()
  }
})
  .on("error", (error) => {
    console.error(`Cannot listen on port 9000: ${error.message}`)
    process.exit(1)
  })
  .listen(9000, "127.0.0.1", () => console.log("Waiting on http://127.0.0.1:9000"))
