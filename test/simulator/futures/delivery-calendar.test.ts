import { DELIVERY_STATES, TickerTable } from '../../../src/domain/ticker-table.ts'
import { readTickersJson } from '../../../src/exchange/readers/ticker-reader.ts'
import { describe, expect, test } from 'vitest'
import { createExchangeCore } from '../../../src/simulator/futures/exchange-core.ts'
import {
  buildInstruments,
  nextQuarterlyDelivery,
  quarterlyDeliveries,
  toMarketInstrument,
} from '../../../src/simulator/futures/instruments/instruments.ts'
import { SeededMarket } from '../../../src/simulator/market/seeded/seeded-market.ts'
import { NOBODY } from '../../../src/simulator/shared/handlers.ts'
import type { RowStore, StoredRow } from '../../../src/simulator/store/stored-rows.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const DELIVERY_AT = Date.UTC(2026, 2, 27, 8)
const START_AT = DELIVERY_AT - HOUR
const COIN = { productType: 'COIN-FUTURES' } as const
const [OLD, NEXT] = ['BTCUSD_260327', 'BTCUSD_260626']

class MemoryRows implements RowStore {
  readonly #rows = new Map<string, StoredRow>()

  load(): readonly StoredRow[] | undefined {
    return this.#rows.size === 0 ? undefined : [...this.#rows.values()]
  }

  save(changes: readonly StoredRow[]): void {
    for (const { table, id, json } of changes) {
      if (json === undefined) this.#rows.delete(`${table} ${id}`)
      else this.#rows.set(`${table} ${id}`, { table, id, json })
    }
  }
}

function openCore({ startAt = START_AT, stepMs = 10_000, store = new MemoryRows() } = {}) {
  const instruments = buildInstruments(...quarterlyDeliveries(startAt)).filter(
    ({ delivery }) => delivery !== undefined,
  )
  const core = createExchangeCore({
    instruments,
    seed: 1,
    store,
    accounts: [
      {
        uid: '1',
        label: 'one',
        key: 'key',
        secret: 'secret',
        passphrase: 'passphrase',
        leverage: 10,
        positionMode: 'one_way_mode',
        role: 'ordinary',
        balances: { BTC: '10' },
      },
    ],
    market: (stored) =>
      new SeededMarket(
        {
          seed: 1,
          startAt,
          stepMs,
          instruments: instruments.map(toMarketInstrument),
        },
        stored,
      ),
  })
  const listed = (now: number) => {
    const reply = core.answer('tickers', NOBODY, COIN, now)
    return Object.fromEntries((reply.ok ? reply.data : []).map((row) => [row.symbol, row]))
  }
  const states = (now: number) =>
    Object.entries(listed(now))
      .filter(([symbol]) => symbol.includes('_'))
      .map(([symbol, { deliveryStatus }]) => `${symbol} ${deliveryStatus}`)
  const buy = (symbol: string, now: number) => {
    const orders = [
      { symbol, side: 'buy', orderType: 'market', size: '0.01', force: 'gtc' } as const,
    ]
    const request = {
      ...COIN,
      symbol,
      marginCoin: 'BTC',
      marginMode: 'crossed',
      orderList: orders,
    } as const
    const reply = core.answer('batchPlaceOrder', { uid: '1' }, request, now)
    return reply.ok ? (reply.data.failureList[0]?.errorCode ?? 'accepted') : reply.code
  }
  return { core, listed, states, buy, store }
}

describe('the calendar of delivery contracts', () => {
  test('after a settlement the next contract is listed: configured first, then traded, until its own delivery', () => {
    const { states, buy } = openCore()

    expect(states(START_AT)).toEqual([`${OLD} delivery_normal`])
    expect(buy(NEXT, START_AT)).toBe('40034')
    expect(states(DELIVERY_AT - MINUTE)).toEqual([`${OLD} delivery_before`])
    expect(states(DELIVERY_AT + MINUTE - 1)).toEqual([`${OLD} delivery_period`])
    const settledAt = DELIVERY_AT + MINUTE
    expect(states(settledAt)).toEqual([`${NEXT} delivery_config_period`])
    expect(buy(NEXT, settledAt + MINUTE)).toBe('43115')
    expect(states(settledAt + 10 * MINUTE - 1)).toEqual([`${NEXT} delivery_config_period`])
    expect(states(settledAt + 10 * MINUTE)).toEqual([`${NEXT} delivery_normal`])
    expect(buy(NEXT, settledAt + 11 * MINUTE)).toBe('accepted')
  })

  test('shows of a new contract nothing from before its listing', () => {
    const { listed } = openCore()
    const at = DELIVERY_AT + 2 * MINUTE

    const { [NEXT]: row } = listed(at)

    expect(row).toMatchObject({ deliveryTime: String(Date.UTC(2026, 5, 26, 8)) })
    expect(Number(row?.deliveryStartTime)).toBe(DELIVERY_AT + 11 * MINUTE)
    expect(Number(row?.open24h)).toBeGreaterThan(0)
    expect(Number(row?.ts)).toBeGreaterThan(DELIVERY_AT + MINUTE)
  })

  test('the table of a daemon that trades the old contract holds the new one', () => {
    const { listed } = openCore()
    const table = new TickerTable()
    const read = (now: number) => {
      const answer = {
        code: '00000',
        msg: 'success',
        requestTime: now,
        data: Object.values(listed(now)),
      }
      readTickersJson(Buffer.from(JSON.stringify(answer)), table)
      return table.symbols.map((symbol) => {
        const state = table.columns.deliveryStatus[table.rowOf(symbol)] ?? Number.NaN
        return [symbol, DELIVERY_STATES[state], table.unreadable.size]
      })
    }

    expect(read(START_AT)).toEqual([[OLD, 'delivery_normal', 0]])
    expect(read(DELIVERY_AT + 2 * MINUTE)).toEqual([[NEXT, 'delivery_config_period', 0]])
    expect(read(DELIVERY_AT + 12 * MINUTE)).toEqual([[NEXT, 'delivery_normal', 0]])
  })

  test('goes on over a restart before and after the listing', () => {
    const store = new MemoryRows()
    openCore({ store }).states(START_AT + MINUTE)
    const before = openCore({ store })
    expect(before.states(DELIVERY_AT + 2 * MINUTE)).toEqual([`${NEXT} delivery_config_period`])
    const price = before.listed(DELIVERY_AT + 3 * MINUTE)[NEXT]

    const after = openCore({ store })

    expect(after.listed(DELIVERY_AT + 3 * MINUTE)[NEXT]).toEqual(price)
    expect(Number(price?.open24h)).toBeGreaterThan(0)
  })

  test('a simulator that was stopped over a delivery settles what was held, and lists the next contract', () => {
    const store = new MemoryRows()
    const { buy } = openCore({ store })
    expect(buy(OLD, START_AT + MINUTE)).toBe('accepted')

    const { core, states } = openCore({ store, startAt: DELIVERY_AT + DAY })

    core.pause(core.now)
    core.resume(DELIVERY_AT + DAY)
    expect(states(DELIVERY_AT + DAY + MINUTE)).toEqual([`${NEXT} delivery_normal`])
    expect(core.ledger('1').positions).toEqual([])
  })

  test('runs for a year without a restart, one contract after the other', () => {
    const { states } = openCore({ stepMs: HOUR })

    const shown = [0, 1, 2, 3].map((quarter) => states(START_AT + (quarter * 91 + 2) * DAY))

    expect(shown).toEqual([
      ['BTCUSD_260626 delivery_normal'],
      ['BTCUSD_260925 delivery_normal'],
      ['BTCUSD_261225 delivery_normal'],
      ['BTCUSD_270326 delivery_normal'],
    ])
  })

  test('contracts that are listed later change no price that is drawn for the others', () => {
    const play = (deliveries: readonly number[]) => {
      const steps: string[] = []
      const market = new SeededMarket({
        seed: 7,
        startAt: START_AT,
        instruments: buildInstruments(...deliveries).map(toMarketInstrument),
      })
      market.advance(START_AT + 5 * MINUTE, ({ at, symbol, quote }) => {
        if (!symbol.includes('_') || symbol === OLD) steps.push(JSON.stringify([at, symbol, quote]))
      })
      return steps
    }

    const alone = play([DELIVERY_AT])

    expect(alone.length).toBeGreaterThan(20_000)
    expect(
      play([DELIVERY_AT, nextQuarterlyDelivery(DELIVERY_AT), Date.UTC(2026, 8, 25, 8)]),
    ).toEqual(alone)
  })
})
