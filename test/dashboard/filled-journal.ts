import { type Fill } from '../../src/domain/fill.ts'
import { toOrderId, toTradeId } from '../../src/domain/ids.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'

const DAY_MS = 86_400_000

/** A journal with so many fills of the last six days, each a record and a booking of its own. */
export function fillJournal(file: string, { fills, now }: { fills: number; now: number }): void {
  const journal = openSqliteJournal({ file, identity: 'busy', salt: 'salt', keepSince: () => 0 })
  for (let index = 0; index < fills; index += 1) {
    const filledAt = Math.round(now - ((fills - index) / fills) * 6 * DAY_MS)
    const symbol = `COIN${index % 200}USDT`
    const fill: Fill & { readonly fee: string; readonly profit: string } = {
      tradeId: toTradeId(`t${index}`),
      orderId: toOrderId(`${index}`),
      symbol,
      side: 'buy',
      tradeSide: 'open',
      ticks: 1e3 + (index % 50),
      lots: 5,
      fee: '0.002',
      profit: '0.01',
      scope: 'maker',
      source: 'API',
      filledAt,
    }
    const { ticks: _ticks, lots: _lots, filledAt: at, ...words } = fill
    const owner = {
      clientOid: `order-${index}`,
      strategyId: `strategy-${index % 20}`,
      owner: 'strategy',
    } as const
    journal.append({ kind: 'fills', at: filledAt, fills: [fill] }, [
      {
        kind: 'fill',
        ...words,
        at,
        price: `${fill.ticks / 10}`,
        size: '0.005',
        coin: 'USDT',
        ...owner,
        fillKind: 'trade',
        otherFees: '',
        reason: '',
        tag: '',
      },
    ])
  }
  journal.commit(() => undefined)
  journal.close()
}
