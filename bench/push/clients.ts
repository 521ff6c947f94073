/** The subscribers: sockets that read event streams and record the age of each match. */
import { connect } from "node:net"
import process from "node:process"
import { answerCommands } from "../childProcess.ts"

/** Connections opened at a time: a server's accept queue is limited. */
const MAX_CONCURRENT = 100

/** In milliseconds, since the last `receive`. */
let latencies: Array<number> = []
let measured: ReadonlyArray<number> = []
let wake = () => {}

const key = process.argv[2]

await answerCommands({
  open: async (port = 0, count = 0) => {
    for (let opened = 0; opened < count; opened += MAX_CONCURRENT) {
      await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, count - opened) }, () => subscribe(port)))
    }
    return count
  },
  receive: async (count = 0) => {
    while (latencies.length < count) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    measured = latencies.sort((a, b) => a - b)
    latencies = []
    return measured.length
  },
  quantile: (share = 0) => measured[Math.floor(measured.length * share)] ?? Number.NaN
})

// ---- helpers ----

/** Resolves once the stream is open. */
function subscribe(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1")
    let rest = ""
    socket.write(`GET /matches/stream HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\n\r\n`)
    socket.on("error", reject)
    socket.on("close", () => reject(new Error("The server closed the connection")))
    socket.on("data", (data) => {
      const now = performance.timeOrigin + performance.now()
      const text = rest + data.toString("latin1")
      if (text.includes(": open")) resolve()
      const whole = text.lastIndexOf("\n\n")
      rest = text.slice(whole + 2)
      for (const [, at] of text.slice(0, whole).matchAll(/"at":([\d.]+)/g)) latencies.push(now - Number(at))
      wake()
    })
  })
}
