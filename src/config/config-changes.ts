import type { DaemonConfig, StrategyConfig } from './load-config.ts'

export interface ConfigChange {
  /** A path as for `--set`; that of a strategy begins with its id. */
  readonly path: string
  readonly was: string | undefined
  readonly is: string | undefined
  readonly limit?: 'tighter' | 'looser'
}

export interface ConfigChanges {
  readonly started: readonly string[]
  readonly stopped: readonly string[]
  readonly settings: readonly ConfigChange[]
  /** Only a new process can take these changes, because the state depends on them. */
  readonly refused: readonly ConfigChange[]
}

/** These settings identify state, account and exchange, or belong to the process. */
const FIXED = [
  'log',
  'alerts',
  'name',
  'environment',
  'accounts',
  'account',
  'exchange.baseUrl',
  'exchange.gatewayUrl',
  'exchange.demo',
  'state.directory',
  'simulator',
  'dryRun',
]

const LEFT_OUT: ReadonlySet<string> = new Set(['file', 'moduleFile', 'strategies'])

const LOOSE_WHEN_SMALLER: ReadonlySet<string> = new Set(['freeBytesMin', 'coolDownMs'])
/** A larger move is harder to survive, and a larger distance is reached sooner. */
const STRICTER_WHEN_LARGER = /(?:^|\.)risk\.(?:survives|liquidation)\./

export function compareConfigs(was: DaemonConfig, is: DaemonConfig): ConfigChanges {
  const [before, after] = [enabledOf(was), enabledOf(is)]
  const main = compareSettings(flatten(was), flatten(is))
  const refused = main.filter(({ path }) =>
    FIXED.some((fixed) => path === fixed || path.startsWith(`${fixed}.`)),
  )
  const own = [...after].flatMap(([id, strategy]) => {
    const known = before.get(id)
    return known ? compareSettings(flatten(known, `${id}.`), flatten(strategy, `${id}.`)) : []
  })
  return {
    started: [...after.keys()].filter((id) => !before.has(id)),
    stopped: [...before.keys()].filter((id) => !after.has(id)),
    settings: [...main.filter((change) => !refused.includes(change)), ...own],
    refused,
  }
}

function enabledOf({ strategies }: DaemonConfig): ReadonlyMap<string, StrategyConfig> {
  return new Map(
    strategies.filter(({ enabled }) => enabled).map((strategy) => [strategy.id, strategy]),
  )
}

function flatten(value: object, prefix = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const [name, part] of Object.entries(value) as [string, unknown][]) {
    if (part === undefined || (LEFT_OUT.has(name) && prefix.split('.').length <= 2)) continue
    if (typeof part === 'object' && part !== null && !Array.isArray(part)) {
      for (const [path, text] of flatten(part, `${prefix}${name}.`)) found.set(path, text)
    } else found.set(`${prefix}${name}`, JSON.stringify(part))
  }
  return found
}

function compareSettings(
  was: ReadonlyMap<string, string>,
  is: ReadonlyMap<string, string>,
): readonly ConfigChange[] {
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((path) => was.get(path) !== is.get(path))
    .map((path) => {
      const [before, after] = [was.get(path), is.get(path)]
      const limit = judge(path, before, after)
      return { path, was: before, is: after, ...(limit && { limit }) }
    })
}

function judge(
  path: string,
  was: string | undefined,
  is: string | undefined,
): ConfigChange['limit'] {
  if (!/(?:^|\.)risk\./.test(path) && !/freeBytesMin$|^[^.]+\.capital$/.test(path)) return undefined
  if (path.endsWith('risk.losses')) return is === '"none"' ? 'looser' : 'tighter'
  const [before, after] = [was, is].map((text) => Number(text?.replaceAll(/["%]/g, '')))
  if (before === undefined || after === undefined || Number.isNaN(before) || Number.isNaN(after)) {
    if (was === undefined && is !== undefined) return 'tighter'
    return is === undefined ? 'looser' : undefined
  }
  const isStricterWhenLarger =
    LOOSE_WHEN_SMALLER.has(path.split('.').at(-1) ?? '') || STRICTER_WHEN_LARGER.test(path)
  const isLooser = after > before !== isStricterWhenLarger
  return isLooser ? 'looser' : 'tighter'
}
