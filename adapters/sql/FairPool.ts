/**
 * A pool of one connection that accounts share fairly: the next one to use it is the one that has used it the least of
 * those waiting. So an account with much work delays the others by one statement at a time, however much it has queued.
 */
import { Fiber, Option } from "effect"
import pg from "pg"
import { Actor } from "../../core/keys/Key.ts"

type OnConnection = Parameters<pg.Pool["connect"]>[0]

export class FairPool extends pg.Pool {
  private readonly queue = new FairQueue<OnConnection>()
  private isInUse = false

  constructor(options: pg.PoolConfig) {
    super({ ...options, max: 1 })
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
    if (!this.isInUse) this.serveNext()
  }

  private serveNext(): void {
    const next = this.queue.take()
    this.isInUse = next !== undefined
    if (next === undefined) return
    const startedAt = performance.now()
    const end = () => {
      this.queue.charge(next.account, performance.now() - startedAt)
      // Not yet: whoever released it may want it again at once, and then be the one that used it the least.
      setImmediate(() => this.serveNext())
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
  /** Of the account that was served last, before it was. */
  private used = 0

  add(account: string, item: A): void {
    const share = this.accounts.get(account) ?? { used: this.used, waiting: [] }
    if (share.waiting.push(item) === 1) share.used = Math.max(share.used, this.used)
    this.accounts.set(account, share)
  }

  take(): { readonly account: string; readonly item: A } | undefined {
    let least: [account: string, share: Share<A>] | undefined
    for (const [account, share] of this.accounts) {
      if (share.waiting.length > 0) {
        if (least === undefined || share.used < least[1].used) least = [account, share]
      } else if (share.used <= this.used) this.accounts.delete(account)
    }
    const item = least?.[1].waiting.shift()
    if (least === undefined || item === undefined) return undefined
    this.used = least[1].used
    return { account: least[0], item }
  }

  charge(account: string, millis: number): void {
    const share = this.accounts.get(account)
    if (share !== undefined) share.used += millis
  }
}

// ---- helpers ----

/** Of one account. */
interface Share<A> {
  /** In milliseconds. */
  used: number
  readonly waiting: Array<A>
}

/** Of the request whose fiber calls this. The work of the service itself counts as one account. */
function currentAccount(): string {
  return Option.match(Fiber.getCurrentFiber(), {
    onNone: () => "",
    onSome: (fiber) => fiber.getFiberRef(Actor).account ?? ""
  })
}
