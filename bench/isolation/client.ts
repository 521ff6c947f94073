/** A client of the server under attack. */
export interface Client {
  /** Returns the status and the text of the answer. */
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Answer>
  readonly get: (path: string) => Promise<Answer>
  /** Opens a stream. Returns how to close it. */
  readonly open: (path: string) => Promise<() => void>
}

interface Answer {
  readonly status: number
  readonly text: string
}

export const client = (url: string, key: string): Client => {
  const authorization = `Bearer ${key}`
  const answerOf = async (response: Response) => ({ status: response.status, text: await response.text() })
  return {
    post: async (path, body, headers = {}) =>
      answerOf(
        await fetch(url + path, {
          method: "POST",
          headers: { authorization, "content-type": "application/json", ...headers },
          body: typeof body === "string" ? body : JSON.stringify(body)
        })
      ),
    get: async (path) => answerOf(await fetch(url + path, { headers: { authorization } })),
    open: async (path) => {
      const controller = new AbortController()
      await fetch(url + path, { headers: { authorization }, signal: controller.signal })
      return () => controller.abort()
    }
  }
}
