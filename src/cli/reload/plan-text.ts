import type { ConfigChanges, SettingChange } from '../../config/config-changes.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import type { OrderView, PositionView } from '../../control/views.ts'

export interface Plan {
  readonly changes: ConfigChanges
  readonly orders: readonly OrderView[]
  readonly positions: readonly PositionView[]
  /** What a start with it would refuse, where no daemon runs. */
  readonly problems: readonly string[]
  /** Limits that are exceeded already, and what they will do. */
  readonly exceeded: readonly string[]
  /** The configuration that is planned. */
  readonly next: DaemonConfig
}

/** What would happen, a line each; empty where nothing would. */
export function formatPlan({ changes, orders, positions, next, problems, exceeded }: Plan): string {
  const { started, stopped, settings, refused } = changes
  const cancelled = orders.filter(({ strategy, symbol }) => !isTraded(next, strategy, symbol))
  const unattended = positions.flatMap(({ symbol, strategies }) =>
    Object.entries(strategies).flatMap(([strategy, size]) =>
      isTraded(next, strategy, symbol) ? [] : [`${symbol} ${size} of ${strategy}`],
    ),
  )
  const lines = [
    ...refused.map(
      (change) =>
        `! ${describe(change)}: only a new process takes this; stop the daemon and start it`,
    ),
    ...started.map((id) => `+ ${id} is started`),
    ...stopped.map((id) => `- ${id} is stopped`),
    ...settings
      .filter(({ path, was, is }) => !path.startsWith('code.') || (was && is))
      .map(
        (change) =>
          `~ ${describe(change)}${noteOnImports(change, next)}${change.limit ? ` (${change.limit})` : ''}`,
      ),
    ...(isOtherWorld(changes, next) ? [OTHER_WORLD] : []),
    ...exceeded.map((sentence) => `! ${sentence}`),
    ...problems.map((problem) => `! a start would refuse it: ${problem}`),
    ...(cancelled.length > 0
      ? [`  ${countBy(cancelled)} that nobody wants any more: cancelled`]
      : []),
    ...unattended.map(
      (what) =>
        `! ${what} is held, and nobody will trade it: flatten it before, or look after it by hand`,
    ),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

/**
 * What rests and is still wanted, where the run that comes begins with a cancel-all: of every account, also where
 * nothing of it changes, because a reload takes all. Empty where nothing is cancelled so.
 * @param name Of the account, where there are several.
 */
export function formatCancels({ orders, next }: Plan, name: string | undefined): string {
  const kept = orders.filter(({ strategy, symbol }) => isTraded(next, strategy, symbol))
  if (next.onRestart === 'adopt' || kept.length === 0) return ''
  const whose = name === undefined ? '' : `${name}: `
  return `  ${whose}${countBy(kept)}: cancelled, and placed again as far as still wanted (onRestart: cancel)\n`
}

function isTraded(
  { strategies, instruments }: DaemonConfig,
  strategy: string,
  symbol: string,
): boolean {
  return (
    strategies.some(
      (one) => one.enabled && one.id === strategy && one.instruments.includes(symbol),
    ) && Object.hasOwn(instruments, symbol)
  )
}

/** The state of the exchange inside belongs to all that the instruments say. */
const OTHER_WORLD =
  '! another simulated account begins, without what this one holds: it belongs to its instruments, and goes on when they are as they were'

function isOtherWorld({ settings }: ConfigChanges, { exchange, simulator }: DaemonConfig): boolean {
  const isInside = exchange.baseUrl === undefined && simulator !== undefined
  return isInside && settings.some(({ path }) => path.startsWith('instruments.'))
}

function describe({ path, was, is }: SettingChange): string {
  if (path.startsWith('code.') && was !== undefined && is !== undefined)
    return `${path.slice('code.'.length)}: other code`
  if (was === undefined) return `${path} is set: ${is}`
  return is === undefined ? `${path} is not set any more (was ${was})` : `${path}: ${was} -> ${is}`
}

/** In a thread of its own everything is loaded anew; in that of the daemon a module is loaded once a process. */
function noteOnImports({ path }: SettingChange, { strategies }: DaemonConfig): string {
  const isInline = strategies.some(
    ({ id, isolation }) => path === `code.${id}` && isolation === 'inline',
  )
  return isInline
    ? '; what the file imports is read anew only by a restart (isolation: inline)'
    : ''
}

function countBy(orders: readonly OrderView[]): string {
  const groups = Map.groupBy(orders, ({ strategy, symbol }) => `${strategy} on ${symbol}`)
  return [...groups].map(([name, of]) => `${of.length} open orders of ${name}`).join(', ')
}
