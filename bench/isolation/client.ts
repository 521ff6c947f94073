/** A client of the server under attack. */
export interface Client {
  /** Returns the status and the text of the answer. */
  readonly post: (path: string, body: unknown) => Promise<{ readonly status: number; readonly text: string }>
}

export const client = (url: string, key: string): Client => ({
  post: async (path, body) => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body)
    })
    return { status: answer.status, text: await answer.text() }
  }
})
