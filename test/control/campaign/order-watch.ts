import type { LoggedFact } from '../../../src/logging/logger.ts'

/** Far below a lot. */
const ROUNDING = 1e-9

export interface HeldOrders {
  readonly scope: string
  readonly mode: string
  readonly code: string
}

interface WatchedAccount {
  readonly held: () => Iterable<HeldOrders>
  /** What a strategy holds, in the base coin; negative: short. */
  readonly netOf: (strategy: string, symbol: string) => number
}

/**
 * Judges each order at the moment it leaves, by what the book holds then: [RSK2] nothing under a
 * kill, only the closing orders of a flatten under a halt, only what makes a position smaller while
 * it reduces; [ORD2] a clientOid names one order.
 */
export class OrderWatch {
  readonly violations: string[] = []
  sent = 0
  readonly #terms = new Map<string, string>()
  readonly #account: WatchedAccount

  constructor(account: WatchedAccount) {
    this.#account = account
  }

  hear({ event, fields }: Pick<LoggedFact, 'event' | 'fields'>): void {
    if (event !== 'order.sent') return
    this.sent += 1
    const { clientOid, purpose, size, price } = fields
    const [strategy, symbol, action] = [fields['strategy'], fields['symbol'], fields['action']].map(
      String,
    ) as [string, string, string]
    const name = `${String(clientOid)}: ${String(purpose)} ${action} of ${strategy}`
    const terms = JSON.stringify([strategy, symbol, action, size, price])
    const known = this.#terms.get(String(clientOid)) ?? terms
    if (known !== terms) this.violations.push(`[ORD2] ${name} was ${known}, and is ${terms}`)
    this.#terms.set(String(clientOid), terms)
    const isBuy = action === 'openLong' || action === 'closeShort'
    const net = this.#account.netOf(strategy, symbol)
    const isReducing = (isBuy ? -net : net) - Number(size) > -ROUNDING
    for (const { scope, mode, code } of this.#account.held()) {
      if (!['*', symbol, `strategy:${strategy}`].includes(scope)) continue
      const isAllowed =
        mode === 'reducing' ? isReducing : mode === 'halted' && purpose === 'flatten' && isReducing
      if (!isAllowed)
        this.violations.push(
          `[RSK2] ${name}, ${String(size)} beside ${net} held, left while ${scope} is ${mode} (${code})`,
        )
    }
  }
}
