/** The load: accounts that send events to the servers and listen for matches. */
import { connect } from "node:net"

export interface Account {
  readonly key: string
  /** Each event that matches does so with one of these words. */
  readonly words: ReadonlyArray<string>
}

export const createRules = async (url: string, { key, words }: Account): Promise<void> => {
  for (const word of words) {
    const rule = { name: word, intent: `Posts with ${word}`, platforms: ["x"], overrides: { x: word } }
    const answer = await post(`${url}/api.CreateRule`, key, "application/json", JSON.stringify(rule))
    if (answer.status !== 200) throw new Error(`Cannot create a rule: ${await answer.text()}`)
  }
}

/** Requests at a time. */
export const LANES = 8

export interface Sending {
  readonly urls: ReadonlyArray<string>
  readonly accounts: ReadonlyArray<Account>
  /** A multiple of `LANES`. */
  readonly events: number
  readonly perRequest: number
  /** One event of this many matches a rule. */
  readonly oneIn: number
}

/** All accounts send the same number of events to each server. Fails if an event does not meet its rule. */
export const sendEvents = async ({ urls, accounts, events, perRequest, oneIn }: Sending): Promise<void> => {
  const sendShare = async (lane: number) => {
    const { url, account } = pairOf(lane, urls, accounts)
    for (let left = events / LANES; left > 0; left -= perRequest) {
      const count = Math.min(perRequest, left)
      const lines = Array.from({ length: count }, (_, i) => JSON.stringify(eventOf(account, i % oneIn === 0)))
      const answer = await post(`${url}/local/events`, account.key, "application/x-ndjson", lines.join("\n"))
      const text = await answer.text()
      if (!text.includes(`"matches":${Math.ceil(count / oneIn)}`)) throw new Error(`Not the expected answer: ${text}`)
    }
  }
  await Promise.all(Array.from({ length: LANES }, (_, lane) => sendShare(lane)))
}

export interface Subscribers {
  /** Waits until this many matches were received in total, since the start. */
  readonly received: (count: number) => Promise<void>
  readonly close: () => void
}

/** Opens `count` event streams: the same number of all accounts, on each server. */
export const subscribe = async (
  urls: ReadonlyArray<string>,
  accounts: ReadonlyArray<Account>,
  count: number
): Promise<Subscribers> => {
  let received = 0
  let wake = () => {}
  const open = (index: number) => {
    const { url, account } = pairOf(index, urls, accounts)
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.write(`GET /matches/stream HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${account.key}\r\n\r\n`)
    return new Promise<() => void>((resolve, reject) => {
      let rest = ""
      socket.on("error", reject)
      socket.on("close", () => reject(new Error(`The server closed a stream: ${rest}`)))
      socket.on("data", (data) => {
        const text = rest + data.toString("latin1")
        if (text.includes(": open")) resolve(() => socket.destroy())
        else if (/^HTTP\/1.1 (?!200)/.test(text)) socket.end()
        const end = text.lastIndexOf("\n\n") + 1
        rest = text.slice(end)
        received += text.slice(0, end).split("\nevent: match\n").length - 1
        wake()
      })
    })
  }
  const sockets: Array<() => void> = []
  for (let opened = 0; opened < count; opened += LANES) {
    sockets.push(...(await Promise.all(Array.from({ length: LANES }, (_, lane) => open(opened + lane)))))
  }
  return {
    received: async (wanted) => {
      const end = AbortSignal.timeout(MAX_MILLIS)
      end.addEventListener("abort", () => wake())
      while (received < wanted && !end.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      if (received !== wanted) throw new Error(`Received ${received} matches instead of ${wanted}`)
    },
    close: () => {
      for (const close of sockets) close()
    }
  }
}

// ---- helpers ----

/** For all deliveries of a round. */
const MAX_MILLIS = 60_000

/** The servers in turn, and on each server the accounts in turn. */
const pairOf = (index: number, urls: ReadonlyArray<string>, accounts: ReadonlyArray<Account>) => {
  const url = urls[index % urls.length]
  const account = accounts[Math.floor(index / urls.length) % accounts.length]
  if (url === undefined || account === undefined) throw new Error("There are no servers or no accounts")
  return { url, account }
}

let lastId = 0

const eventOf = ({ words }: Account, isMatch: boolean) => {
  lastId++
  const word = isMatch ? words[lastId % words.length] : "nothing"
  return {
    data: { id: String(lastId), text: `A post of usual length about ${word}, with some more words. `.repeat(4) }
  }
}

const post = (url: string, key: string, type: string, body: string) =>
  fetch(url, { method: "POST", headers: { authorization: `Bearer ${key}`, "content-type": type }, body })
