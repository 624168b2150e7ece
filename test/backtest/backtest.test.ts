import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Backtest, type BacktestOptions } from '../../src/backtest/backtest.ts'
import { UID } from '../../src/backtest/direct-exchange.ts'
import { type VirtualTime } from '../../src/backtest/virtual-time.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { toEngineSettings, toInstruments } from '../../src/daemon/account/engine-settings.ts'
import { loadStrategies } from '../../src/daemon/strategies/strategies.ts'
import { type OutgoingBatch } from '../../src/engine/effect.ts'
import { type JournalPort } from '../../src/interpreter/ports.ts'
import { createExchangeCore } from '../../src/simulator/core/exchange-core.ts'
import { buildInstruments, toMarketInstrument } from '../../src/simulator/core/instruments.ts'
import { createSeededMarket } from '../../src/simulator/market/seeded-market.ts'
import { compareMoney } from '../support/invariants/book-comparison.ts'

const START_AT = Date.UTC(2025, 5, 2, 6)
const HOUR_MS = 3_600_000
/** A commit of a slow journal is done after this, ms. */
const COMMIT_MS = 30
const SYMBOLS = ['BTCUSDT', 'ETHUSDT']

/** The shipped strategies, grid and trend on both instruments, on a market with this seed. */
async function openBacktest(seed: string, change: Partial<BacktestOptions> = {}) {
  const { config, documents } = loadConfig({
    file: 'config/paper.yaml',
    cwd: join(import.meta.dirname, '../..'),
  })
  const loaded = await loadStrategies(config, documents, toInstruments(config))
  const instruments = buildInstruments(START_AT + 90 * 86_400_000).filter(({ symbol }) =>
    SYMBOLS.includes(symbol),
  )
  const { positionMode } = config.account
  const core = createExchangeCore({
    instruments,
    accounts: [
      {
        ...{ uid: UID, label: 'backtest', key: 'key', secret: 'secret', passphrase: 'passphrase' },
        ...{ positionMode, role: 'ordinary', balances: { USDT: '100000' }, leverage: 10 },
      },
    ],
    market: () =>
      createSeededMarket({ seed, startAt: START_AT, instruments: instruments.map(toMarketInstrument) }),
    settings: { marketStateEveryMs: Number.POSITIVE_INFINITY, fillVisibilityLagMs: 200 },
    seed,
  })
  const hash = createHash('sha256')
  const backtest = new Backtest({
    startAt: START_AT,
    core,
    settings: toEngineSettings(config, { salt: 'salt', version: '0', embedded: true, feeds: new Map() }),
    strategies: new Map(loaded.map(({ id, strategy, params }) => [id, { strategy, params }])),
    polling: { tickersMs: 500, fillsMs: 1000, positionsMs: 5000, timeMs: 100 },
    latencyMs: 10,
    listener: { recorded: (record) => hash.update(JSON.stringify(record)) },
    ...change,
  })
  return { backtest, digest: () => hash.digest('hex') }
}

/** What the exchange's ledger and the book say differently. */
function differences({ book, ledger }: Backtest): readonly string[] {
  const [coin] = ledger.coins
  const fills = [...book.money.values()].reduce((sum, money) => sum + money.fills, 0)
  return [
    ...(coin ? compareMoney(book, coin) : ['no coin']),
    ...(ledger.counts.fills === fills ? [] : [`${fills} fills of ${ledger.counts.fills}`]),
    ...(ledger.openOrders.length === 0 ? [] : ['orders rest']),
    ...(ledger.positions.length === 0 ? [] : ['positions are held']),
  ]
}

/** A journal whose commits are done after a while; it holds each batch that leaves against what is durable. */
function watchSlowJournal() {
  const early: string[] = []
  let sent = 0
  const appended: string[] = []
  let durable = 0
  const createJournal = (time: VirtualTime): JournalPort => ({
    append: (record) => appended.push(record.kind === 'send' ? record.body : ''),
    commit(done) {
      const upTo = appended.length
      time.after(COMMIT_MS, () => {
        durable = upTo
        done()
      })
    },
    flush: () => undefined,
    saveCheckpoint: () => undefined,
  })
  const batchLeaves = ({ body }: OutgoingBatch): void => {
    sent += 1
    const place = appended.indexOf(body)
    if (place < 0 || place >= durable) early.push(body)
  }
  return { createJournal, listener: { batchLeaves }, early, count: () => sent }
}

describe('grid and trend on a seeded market, for a virtual hour', () => {
  test("[ORD5] the exchange's ledger is the book's to the last digit", { timeout: 60_000 }, async () => {
    const { backtest } = await openBacktest('1')

    backtest.run(HOUR_MS)
    const clean = backtest.stop('flatten')

    expect(clean).toBe(true)
    expect(backtest.ledger.counts.fills).toBeGreaterThan(40)
    expect(differences(backtest)).toEqual([])
  })

  test(
    '[DET1] runs twice to the same journal, and with another seed to another',
    { timeout: 60_000 },
    async () => {
      const digests = await Promise.all(
        ['1', '1', '2'].map(async (seed) => {
          const { backtest, digest } = await openBacktest(seed)
          backtest.run(HOUR_MS / 4)
          return digest()
        }),
      )

      expect(digests[1]).toBe(digests[0])
      expect(digests[2]).not.toBe(digests[0])
    },
  )

  test(
    '[ORD1] on a journal whose commits take time no batch leaves before its own',
    { timeout: 60_000 },
    async () => {
      const { early, count, ...slow } = watchSlowJournal()
      const { backtest } = await openBacktest('1', slow)

      backtest.run(HOUR_MS / 4)
      const clean = backtest.stop('flatten')

      expect([clean, early]).toEqual([true, []])
      expect(count()).toBeGreaterThan(20)
      expect(differences(backtest)).toEqual([])
    },
  )
})
