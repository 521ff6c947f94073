/**
 * A pool that accounts share fairly: a free connection goes to the account that has used the least time of those waiting,
 * and one account uses at most half of the connections at once. So an account with much work delays the others by one
 * statement at a time, however much it has queued, and large results of one account do not all arrive together.
 */
import { Fiber, Option } from "effect"
import pg from "pg"
import { Actor } from "../../core/keys/Key.ts"

type OnConnection = Parameters<pg.Pool["connect"]>[0]

export class FairPool extends pg.Pool {
  private readonly queue: FairQueue<OnConnection>
  private free: number

  constructor(options: pg.PoolConfig & { readonly max: number }) {
    super(options)
    this.free = options.max
    this.queue = new FairQueue(Math.ceil(options.max / 2))
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: OnConnection): void
  override connect(callback?: OnConnection): Promise<pg.PoolClient> | void {
    if (callback === undefined) {
      return new Promise((resolve, reject) =>
        this.connect((error, client) => (client === undefined ? reject(error) : resolve(client)))
      )
    }
    this.queue.add(currentAccount(), callback)
    this.serve()
  }

  private serve(): void {
    if (this.free === 0) return
    const next = this.queue.take()
    if (next === undefined) return
    this.free--
    const startedAt = performance.now()
    const end = () => {
      this.queue.end(next.account, performance.now() - startedAt)
      // Not yet: whoever released it may want it again at once, and then be the one that used it the least.
      setImmediate(() => {
        this.free++
        this.serve()
      })
    }
    super.connect((error, client, release) => {
      if (client === undefined) {
        end()
        return next.item(error, client, release)
      }
      client.release = (cause) => {
        release(cause)
        end()
      }
      next.item(error, client, client.release)
    })
  }
}

/** Serves the one that has used the least time. One that comes back does not catch up on the time that it was away. */
export class FairQueue<A> {
  private readonly accounts = new Map<string, Share<A>>()
  /** Of one account at once. */
  private readonly maxRunning: number
  /** Of the account that was served last, before it was. */
  private used = 0

  constructor(maxRunning: number) {
    this.maxRunning = maxRunning
  }

  add(account: string, item: A): void {
    const share = this.accounts.get(account) ?? { used: this.used, running: 0, waiting: [] }
    if (share.waiting.push(item) === 1) share.used = Math.max(share.used, this.used)
    this.accounts.set(account, share)
  }

  take(): { readonly account: string; readonly item: A } | undefined {
    let least: [account: string, share: Share<A>] | undefined
    for (const [account, share] of this.accounts) {
      if (share.waiting.length > 0) {
        const isNext = least === undefined || share.used < least[1].used
        if (isNext && (account === SERVICE || share.running < this.maxRunning)) least = [account, share]
      } else if (share.running === 0 && share.used <= this.used) this.accounts.delete(account)
    }
    const item = least?.[1].waiting.shift()
    if (least === undefined || item === undefined) return undefined
    this.used = least[1].used
    least[1].running++
    return { account: least[0], item }
  }

  /** After it has used `millis`. */
  end(account: string, millis: number): void {
    const share = this.accounts.get(account)
    if (share === undefined) return
    share.running--
    share.used += millis
  }
}

// ---- helpers ----

/** Of one account. */
interface Share<A> {
  /** In milliseconds. */
  used: number
  running: number
  readonly waiting: Array<A>
}

/** Of the request whose fiber calls this. */
function currentAccount(): string {
  return Option.match(Fiber.getCurrentFiber(), {
    onNone: () => SERVICE,
    onSome: (fiber) => fiber.getFiberRef(Actor).account ?? SERVICE
  })
}

/** The work of the service itself counts as one account, which may use all connections. */
const SERVICE = ""
