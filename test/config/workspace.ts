/** A project in a temporary directory: small configuration files whose line numbers the tests know. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type ConfigReading, type ConfigRequest, readConfig } from '../../src/config/load-config.ts'
import { formatProblem } from '../../src/config/yaml/problem.ts'
import { writeRisk } from '../support/made-limits.ts'

/** Line 1 is `name`. */
export const MAIN = `name: paper
environment: simulator
account:
  productType: USDT-FUTURES
  marginCoin: USDT
  marginMode: crossed
  positionMode: one_way_mode
instruments:
  BTCUSDT: { tickSize: "0.1", lotSize: "0.001", minSize: "0.001", minNotional: "5" }
  ETHUSDT: { tickSize: "0.01", lotSize: "0.01", minSize: "0.01", minNotional: "5" }
polling:
  tickersMs: 250
${writeRisk({ openOrdersMax: 100, orderNotionalMax: '2000', grossNotionalMax: '20000' })}state:
  directory: ../.intentd/paper
simulator:
  seed: 1
  startingBalance: "10000"
  market:
    startPrices: { BTCUSDT: "60000", ETHUSDT: "3000" }
strategies:
  - strategies/grid.yaml
  - strategies/trend.yaml
`

/** What stands from line 21 to 25 of {@link MAIN}. */
export const SIMULATOR_SECTION = MAIN.slice(
  MAIN.indexOf('simulator:\n'),
  MAIN.indexOf('strategies:\n'),
)

export const GRID = `id: grid
module: ../../strategies/grid.ts
instruments: [BTCUSDT]
params:
  levels: 5
  size: "0.002"
risk:
  positionMax: "0.02"
  orderSizeMax: "0.002"
  openOrdersMax: 20
`

const TREND = `id: trend
module: ../../strategies/trend.ts
instruments: [ETHUSDT]
risk:
  positionMax: "0.4"
  orderSizeMax: "0.4"
  openOrdersMax: 4
`

export const SIMULATOR = `port: 8700
seed: 1
market:
  startPrices: { BTCUSDT: "60000" }
instruments:
  BTCUSDT: { tickSize: "0.1", lotSize: "0.001", minSize: "0.001", minNotional: "5" }
accounts:
  - name: alice
    productType: USDT-FUTURES
    marginCoin: USDT
    marginMode: crossed
    positionMode: one_way_mode
    startingBalance: "10000"
`

/** Every file of a good project, by path. */
export const FILES = {
  'config/main.yaml': MAIN,
  'config/strategies/grid.yaml': GRID,
  'config/strategies/trend.yaml': TREND,
  'strategies/grid.ts': '',
  'strategies/trend.ts': '',
}

export class Workspace {
  readonly directory = mkdtempSync(join(tmpdir(), 'intentd-config-'))

  /** Writes these files, and those of {@link FILES} that are not among them. */
  fill(files: Readonly<Record<string, string>> = {}): void {
    for (const [path, text] of Object.entries({ ...FILES, ...files })) this.write(path, text)
  }

  write(path: string, text: string | Uint8Array, mode = 0o600): string {
    const file = join(this.directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    chmodSync(file, mode)
    return file
  }

  read(overrides: readonly string[] = [], played?: ConfigRequest['played']): ConfigReading {
    return readConfig({ file: 'config/main.yaml', overrides, played, cwd: this.directory })
  }

  /** The problems of the project as they would be printed, without the closing line. */
  complain(overrides: readonly string[] = [], played?: ConfigRequest['played']): string[] {
    return this.read(overrides, played).problems.map(formatProblem)
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }
}

/** A text with one part of it replaced. @throws when the part is not there. */
export function replaceOnce(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`not in the text: ${from}`)
  return text.replace(from, () => to)
}
