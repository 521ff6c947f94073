/** Bodies of responses that write themselves, with back-pressure: an idle one holds no promise, fiber or buffer. */

/** The connection that a body writes to. */
export interface Sink {
  /** False if the reader is slow: the body then waits for `resume`. */
  readonly write: (bytes: Uint8Array) => boolean
  readonly end: () => void
  /** Breaks the connection: the reader must not take the body as complete. */
  readonly abort: () => void
}

export interface PushBody {
  /** Called at most once. */
  readonly open: (sink: Sink) => OpenBody
  /** Called instead of `open` if nobody reads the body. */
  readonly cancel: () => void
}

export interface OpenBody {
  readonly resume: () => void
  /** After this, the body writes nothing. */
  readonly close: () => void
}

/** How a runtime sends a body. */
export type Push = (
  body: PushBody,
  head: { readonly status: number; readonly headers: Record<string, string> }
) => Response

/** Writes the texts as they come, no faster than they are read. Aborts if one of them fails. */
export const pushTexts = (texts: AsyncGenerator<string>): PushBody => ({
  cancel: () => void texts.return(undefined),
  open: (sink) => {
    const encoder = new TextEncoder()
    let isWriting = false
    let isClosed = false
    const write = async () => {
      isWriting = true
      try {
        for (;;) {
          const next = await texts.next()
          if (isClosed) return
          if (next.done === true) return sink.end()
          if (!sink.write(encoder.encode(next.value))) return
        }
      } catch {
        if (!isClosed) sink.abort()
      } finally {
        isWriting = false
      }
    }
    void write()
    return {
      resume: () => void (isWriting || write()),
      close: () => {
        isClosed = true
        void texts.return(undefined)
      }
    }
  }
})

/** On every runtime. */
export const pushToStream: Push = (body, head) => new Response(toReadableStream(body), head)

// ---- helpers ----

/** Per read, so that little is buffered for a client that stops reading. */
const READ_BYTES = 65_536

const toReadableStream = (body: PushBody): ReadableStream<Uint8Array> => {
  let opened: OpenBody | undefined
  let written = 0
  const open = (controller: ReadableStreamDefaultController<Uint8Array>) =>
    body.open({
      write: (bytes) => {
        controller.enqueue(bytes)
        written += bytes.length
        return written < READ_BYTES
      },
      end: () => controller.close(),
      abort: () => controller.error(new Error("The response is not complete"))
    })
  return new ReadableStream(
    {
      pull: (controller) => {
        const isFull = written >= READ_BYTES
        written = 0
        if (opened === undefined) opened = open(controller)
        else if (isFull) opened.resume()
      },
      cancel: () => (opened === undefined ? body.cancel() : opened.close())
    },
    // Without prefetch, the body is opened only when it is read.
    { highWaterMark: 0 }
  )
}
