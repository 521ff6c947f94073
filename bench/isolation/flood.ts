/** Sends requests of one account as fast as the server answers, on 50 connections, until it is killed. */
import { Agent, request } from "node:http"
import process from "node:process"

const [url = "", key = ""] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: 50 })

const send = (): void => {
  const body = "{}"
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "content-length": body.length
  }
  const sent = request(`${url}/matches`, { method: "POST", agent, headers }, (answer) => {
    answer.resume()
    answer.on("end", send)
  })
  sent.on("error", () => setTimeout(send, 10))
  sent.end(body)
}

for (let connection = 0; connection < 50; connection++) send()
