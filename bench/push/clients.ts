/** The subscribers of the benchmark: sockets that read event streams and note how old each match is. */
import { connect } from "node:net"
import process from "node:process"
import { answer } from "./process.ts"

/** At a time: a server's queue of connections is not endless. */
const AT_ONCE = 100

/** In milliseconds, of all that was received since the last time somebody waited for them. */
let latencies: Array<number> = []
let measured: ReadonlyArray<number> = []
let wake = () => {}

const key = process.argv[2]

answer({
  open: async (port = 0, count = 0) => {
    for (let opened = 0; opened < count; opened += AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - opened) }, () => subscribe(port)))
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

/** Resolves when the stream is open. */
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
