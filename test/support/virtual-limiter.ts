import { type VirtualTime } from './virtual-time.ts'

/** Calls of each endpoint in any second, as the document allows them. */
const CALLS_PER_SECOND: Readonly<Record<string, number>> = {
  batchPlaceOrder: 5,
  cancelAllOrders: 1,
  orderFills: 10,
  singlePosition: 10,
}

/** An exact limiter: a call is granted as soon as the window of the last second has room for it. */
export class VirtualLimiter {
  readonly #time: VirtualTime
  readonly #granted = new Map<string, number[]>()

  constructor(time: VirtualTime) {
    this.#time = time
  }

  request(endpoint: string, onGranted: () => void): void {
    const granted = this.#granted.get(endpoint) ?? []
    this.#granted.set(endpoint, granted)
    const calls = CALLS_PER_SECOND[endpoint] ?? 1
    const earlier = granted.at(-calls)
    const at = Math.max(this.#time.now, earlier === undefined ? 0 : earlier + 1000)
    granted.push(at)
    if (granted.length > 2 * calls) granted.shift()
    this.#time.after(at - this.#time.now, onGranted)
  }

  /** The call that was granted last was not made. */
  giveBack(endpoint: string): void {
    this.#granted.get(endpoint)?.pop()
  }
}
