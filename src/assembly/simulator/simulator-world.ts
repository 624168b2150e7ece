import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import { isFile } from '../../config/yaml/checked-file.ts'
import type { EmbeddedSimulatorSettings } from '../../config/schema/simulator-schema.ts'
import { sha256 } from '../../lib/digest.ts'
import { filesOf, type MarketOverride } from './simulated-exchange.ts'

const DIGEST_LENGTH = 8

/**
 * Orders and positions mean nothing across position modes, markets, speeds, balances or contracts,
 * so each has its own state. A recording is identified by its content.
 */
export function worldOf(
  config: DaemonConfig,
  settings: EmbeddedSimulatorSettings,
  market: MarketOverride,
): string {
  const mode = config.account.positionMode === 'hedge_mode' ? 'hedge' : 'one-way'
  const files = filesOf(settings, market)
  const speed = market.speed ?? settings.speed
  const { live } = settings.market
  const prices =
    files.length === 0
      ? live === undefined
        ? `seed-${settings.seed}`
        : `live-${new URL(live.baseUrl).host}`
      : files.map((file) => basename(file).replace(/\.csv(\.gz)?$/, '')).join('+')
  const { startPrices, yearlyVolatility, repeat, candlePath } = settings.market
  const { seed, stepMs, startingBalance, leverage } = settings
  const { feeCoins: _prices, leverage: _expected, ...account } = config.account
  const contracts = Object.entries(config.instruments).map(
    ([symbol, { leverage: _of, fundingHours: _hours, maintenance: _tiers, ...contract }]) => [
      symbol,
      contract,
    ],
  )
  const text = JSON.stringify([
    [account, Object.fromEntries(contracts), startingBalance, leverage],
    seed,
    stepMs,
    startPrices,
    yearlyVolatility,
    repeat,
    candlePath,
    live?.baseUrl,
  ])
  const payments = files.length === 0 ? [] : Object.values(settings.market.funding)
  const digest = sha256([text, ...files.map(contentOf), ...payments.map(contentOf)])
  const name = `${mode}-${prices}${speed === 1 ? '' : `-x${speed}`}`.replaceAll(/[^\w.+-]/g, '_')
  return `${name.slice(0, 100)}-${digest.toString('hex').slice(0, DIGEST_LENGTH)}`
}

/** Finds an earlier account, which the operator may miss after a change of settings. */
export function findWorldBefore(directory: string): string | undefined {
  if (existsSync(directory)) return undefined
  const places = dirname(directory)
  const name = basename(directory).slice(0, -DIGEST_LENGTH)
  const others = (existsSync(places) ? readdirSync(places) : [])
    .filter((other) => other.startsWith(name) && other.length === name.length + DIGEST_LENGTH)
    .map((other) => join(places, other))
  const changedAt = (place: string): number => statSync(place).mtimeMs
  return others.toSorted((one, other) => changedAt(other) - changedAt(one))[0]
}

export function setWorldAside(directory: string): string {
  const aside = `${directory}-ended`
  rmSync(aside, { recursive: true, force: true })
  renameSync(directory, aside)
  return aside
}

/** An unreadable file is reported when it is played. */
function contentOf(file: string): string {
  const path = file.replace(/^[A-Z0-9]+(?:_[A-Z0-9]+)?=/, '')
  if (!isFile(path)) return path
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
