import type { TokenPool, TokenPoolOptions } from '../exchange/limiter/call-window.ts'

/** A pool without the asynchronous machinery: a token that comes back is in stock at once. */
export class DirectPool implements TokenPool {
  readonly leadMs = 0
  #stock: number

  constructor({ tokens }: Pick<TokenPoolOptions, 'tokens'>) {
    this.#stock = tokens
  }

  get stock(): number {
    return this.#stock
  }

  take(): void {
    if (this.#stock < 1) throw new Error('there is no token in stock')
    this.#stock--
  }

  giveBack(): void {
    this.#stock++
  }

  putBack(): void {
    this.#stock++
  }

  stop(): Promise<void> {
    this.#stock = 0
    return Promise.resolve()
  }
}
