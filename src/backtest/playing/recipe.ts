import process from 'node:process'
import { createHash, hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sha256Hex } from '../../lib/digest.ts'
import type { CodeFile } from '../../assembly/state/running-config.ts'
import { hashHistory } from '../../assembly/strategies/history.ts'
import type { PlayOptions } from '../opening/play-options.ts'
import type { PreparedBacktest } from '../opening/prepare-backtest.ts'
import type { PriceSource } from '../opening/priced-instruments.ts'

interface RecipeOptions extends Pick<PlayOptions, 'set' | 'param'> {
  readonly models: readonly string[]
  readonly version: string
}

type PlayedParts = Pick<
  PreparedBacktest,
  'config' | 'code' | 'feeds' | 'fromAt' | 'params' | 'toAt' | 'seed' | 'simulator' | 'universe'
> & {
  readonly coverage: readonly PriceSource[]
}

/** Describes all that the result depends on: the same recipe gives the same files to the byte. */
export function describeRecipe(parts: PlayedParts, { models, version, set, param }: RecipeOptions) {
  const { config, coverage, code, feeds, fromAt, toAt, seed, simulator, universe, params } = parts
  const { file: _file, state: _state, strategies, ...settings } = config
  const { recordings: _recordings, ...market } = simulator.market
  const exchange = { ...simulator, market }
  const history = strategies.filter((one) => one.enabled && one.history.length > 0)
  const packages = Object.entries(code).filter((one) => Object.keys(one[1].packages).length > 0)
  const placed = strategies.map(
    ({ file: _strategyFile, moduleFile: _module, ...strategy }) => strategy,
  )
  return {
    format: 1,
    version,
    node: process.version,
    from: new Date(fromAt).toISOString(),
    to: new Date(toAt).toISOString(),
    models,
    seed,
    balance: simulator.startingBalance,
    set,
    param,
    params,
    tries: 1,
    ...(packages.length > 0 && {
      packages: Object.fromEntries(packages.map(([id, one]) => [id, one.packages])),
    }),
    sha256: {
      config: sha256Hex([
        JSON.stringify({
          ...settings,
          strategies: placed,
          simulator: exchange,
        }),
      ]),
      program: hashProgram(),
      strategies: Object.fromEntries(
        Object.entries(code).map(([id, { files }]) => [id, hashFiles(files)]),
      ),
      ...(history.length > 0 && {
        history: Object.fromEntries(history.map((one) => [one.id, hashHistory(one)])),
      }),
      prices: Object.fromEntries(
        coverage.map(({ symbol, sha256, source }) => [symbol, sha256 || source]),
      ),
      ...(universe !== undefined && { universe: universe.sha256 }),
      ...(feeds.length > 0 && {
        feeds: Object.fromEntries(feeds.map(({ feed, sha256 }) => [feed, sha256])),
      }),
    },
  }
}

/** The digests equal those of `sha256sum`. */
function hashFiles(files: readonly CodeFile[]): Readonly<Record<string, string>> {
  return Object.fromEntries(files.map(({ name, text }) => [name, hash('sha256', text)]))
}

function hashProgram(): string {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name))
    .toSorted()
  const whole = createHash('sha256')
  for (const name of files)
    whole.update(`${name.replaceAll('\\', '/')}\n`).update(readFileSync(join(root, name)))
  return whole.digest('hex')
}
