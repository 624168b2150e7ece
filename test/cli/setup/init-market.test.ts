import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { buildInitFiles } from '../../../src/cli/setup/init-files.ts'
import { type DaemonConfig, readConfig } from '../../../src/config/load-config.ts'
import { makeDirectory } from '../../../src/lib/durable-file.ts'
import { DayStatistics } from '../../../src/simulator/market/day-statistics.ts'
import { SeededMarket } from '../../../src/simulator/market/seeded/seeded-market.ts'

const MIDNIGHT = Date.UTC(2026, 0, 2)
const SYMBOL = 'BTCUSDT'

function loadWritten(): DaemonConfig {
  const directory = mkdtempSync(join(tmpdir(), 'init-market-'))
  try {
    for (const [path, text] of buildInitFiles(directory)) {
      makeDirectory(dirname(join(directory, path)))
      writeFileSync(join(directory, path), text)
    }
    const file = join(directory, 'config/paper.yaml')
    const { loaded, problems } = readConfig({ file, cwd: directory })
    if (loaded === undefined) throw new Error(JSON.stringify(problems))
    return loaded.config
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** @returns seconds until the change within 24 hours is below, in the simulator's market */
function secondsUntilBelow(config: DaemonConfig, below: number, startAt: number): number {
  const { seed, speed = 1, stepMs, market: prices } = config.simulator ?? {}
  if (seed === undefined || stepMs === undefined || prices === undefined)
    throw new Error('no simulated market')
  const instruments = Object.entries(config.instruments).map(([symbol, { tickSize, lotSize }]) => ({
    symbol,
    tickSize: String(tickSize),
    lotSize: String(lotSize),
    startPrice: prices.startPrices?.[symbol] ?? '',
    yearlyVolatility: prices.yearlyVolatility,
    dailyTurnover: 1e9,
  }))
  const [instrument] = instruments.filter(({ symbol }) => symbol === SYMBOL)
  if (instrument === undefined) throw new Error('not traded')
  const market = new SeededMarket({ seed, instruments, startAt, stepMs, speed })
  const past = market.pastDay(SYMBOL)
  const statistics = new DayStatistics({ instrument, seed, speed, past })
  for (let now = startAt; now <= startAt + 60_000; now += 100) {
    market.advance(now, ({ at, symbol, quote }) => {
      if (symbol === SYMBOL) statistics.apply(at, quote)
    })
    if ((statistics.read(now)?.change24h ?? 0) < below) return (now - startAt) / 1000
  }
  return Number.POSITIVE_INFINITY
}

test('in a new directory the strategy buys within a minute, whenever it is started', () => {
  const config = loadWritten()
  const below = Number(config.strategies[0]?.params['below'])

  for (const second of [0, 15, 30, 45, 59])
    expect(secondsUntilBelow(config, below, MIDNIGHT + second * 1000)).toBeLessThan(60)
})
