import type { DaemonConfig } from '../../config/load-config.ts'
import type { EmbeddedSimulatorSettings } from '../../config/schema/simulator-schema.ts'
import { findShortWindows, LOOKS_MIN } from '../../assembly/strategies/short-windows.ts'
import type { LoadedStrategy } from '../../assembly/strategies/strategies.ts'
import { findOutliers, timeIn } from '../../prices/import/outliers.ts'
import type { Recording } from '../../prices/recording.ts'
import type { PriceCoverage } from '../../report/run-facts.ts'
import { countCutRows, RECORDED_LOTS_MAX } from '../../simulator/market/quote-grid.ts'
import { shareOffTick, shareWithoutVolume } from '../played-prices.ts'

/** Says what the prices of a run lack, a sentence each. */
export function remarksOn(
  strategies: readonly LoadedStrategy[],
  coverage: readonly PriceCoverage[],
  { delisting }: EmbeddedSimulatorSettings,
): readonly string[] {
  const [from, to] = [
    Math.min(...coverage.map((one) => one.fromAt)),
    Math.max(...coverage.map((one) => one.toAt)),
  ]
  const time = (at: number): string => new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  return [
    ...strategies.flatMap(({ id, silentHistory = [] }) =>
      silentHistory.map(
        (file) => `${id}: its history ${file} holds no candle that closed before ${time(from)}.`,
      ),
    ),
    ...coverage.flatMap(({ symbol, fromAt, toAt, gaps }) => [
      ...(fromAt > from
        ? [`${symbol} begins later, at ${time(fromAt)}: before that it is not listed.`]
        : []),
      ...(toAt < to
        ? [
            `${symbol} ends earlier, at ${time(toAt)}: from then on it is not listed, and what was held of it ${
              delisting === 'close'
                ? 'is closed at its last price, as at a delivery'
                : 'stays at its last price, without funding'
            } (simulator.delisting).`,
          ]
        : []),
      ...(gaps.count > 0
        ? [
            `${symbol} has ${gaps.count} gaps, ${Math.round(gaps.totalMs / 60_000)} minutes in all: the price stands still in them and ` +
              'grows old, so that nothing is decided on it. The longest: ' +
              `${gaps.longest.map((gap) => `${time(gap.fromAt)} to ${time(gap.toAt)}`).join('; ')}.`,
          ]
        : []),
    ]),
  ]
}

export function remarksOnWindows(
  strategies: readonly LoadedStrategy[],
  lookMs: number,
): readonly string[] {
  return findShortWindows(strategies, lookMs).map(
    ({ id, param, value }) =>
      `${id}: ${param} ${value} is shorter than ${LOOKS_MIN} looks at the prices, one each ${lookMs} ms: its result means little; make it longer (--param ${id}.${param}=…), or look more often (backtest.pollMs).`,
  )
}

export function remarksOnTicks(
  { instruments }: DaemonConfig,
  recordings: readonly Recording[],
): readonly string[] {
  return recordings.flatMap((recording) => {
    const { symbol } = recording
    const tick = instruments[symbol]?.tickSize
    const share = tick === undefined ? 0 : shareOffTick(recording, Number(tick))
    if (share === 0) return []
    const part = share < 0.01 ? 'less than 1' : Math.round(share * 100)
    return [
      `${symbol}: ${part} % of its prices lie between two ticks of ${tick}: they are played rounded to it.`,
    ]
  })
}

export function remarksOnOutliers(recordings: readonly Recording[]): readonly string[] {
  return recordings.flatMap(({ symbol, source, rows }) => {
    const { count, first } = findOutliers(rows, timeIn(rows))
    return count === 0
      ? []
      : [
          `${symbol}: ${count} of its rows have a price five times as high or low as the one before, and are played as they are: ${first}. \`intentd import ${source}\` names the line.`,
        ]
  })
}

/** Some minutes without a trade are usual. */
const VOLUMELESS_SHARE_MAX = 0.1

export function remarksOnVolume(
  { instruments }: DaemonConfig,
  recordings: readonly Recording[],
): readonly string[] {
  return recordings.flatMap((recording) => {
    const { symbol } = recording
    const share = shareWithoutVolume(recording)
    const cut = countCutRows(recording, instruments[symbol]?.lotSize ?? 'Infinity')
    const { rows } = recording
    return [
      ...(rows.kind === 'quotes' && rows.volume === undefined
        ? [
            `${symbol}: its quotes have no volume: at each change of the last price a tenth of the displayed size counts as traded, and while it stands still no order of ours is filled, a closing one neither (a column \`volume\` says what was traded).`,
          ]
        : []),
      ...(share > VOLUMELESS_SHARE_MAX
        ? [
            `${symbol}: ${Math.round(share * 100)} % of its candles have no volume: nothing is filled in them.`,
          ]
        : []),
      ...(cut > 0
        ? [
            `${symbol}: ${cut} of its rows have more than ${RECORDED_LOTS_MAX.toLocaleString('en')} lots, and are played with so many: check the unit of its volume, and the lotSize.`,
          ]
        : []),
    ]
  })
}
