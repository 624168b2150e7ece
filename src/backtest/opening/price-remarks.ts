import { showTime } from '../../report/text/figures.ts'
import { findShortWindows, LOOKS_MIN } from '../../assembly/strategies/pace-warnings.ts'
import type { LoadedStrategy } from '../../assembly/strategies/strategies.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import type { EmbeddedSimulatorSettings } from '../../config/schema/simulator-schema.ts'
import { showDuration } from '../../lib/text/show-duration.ts'
import { showCount } from '../../lib/text/show-count.ts'
import { findOutliers, timeIn } from '../../prices/import/outliers.ts'
import type { Recording, RecordedFunding } from '../../prices/recording.ts'
import type { PriceCoverage } from '../../report/run-facts.ts'
import { countCutRows, RECORDED_LOTS_MAX } from '../../simulator/market/quote-grid.ts'
import { shareOffTick, shareWithoutVolume } from '../played-prices.ts'
import { calendarFundingMinutes, fundingMinutesOf } from '../../config/funding-minutes.ts'
import { describeOtherTimes, showMinutes } from '../../prices/funding.ts'

/** Whoever compares two runs by their dates must know that one has no prices for a part of them. */
export function remarksOnRange(
  asked: { readonly fromAt?: number | undefined; readonly toAt?: number | undefined },
  played: {
    readonly coverage: readonly PriceCoverage[]
    readonly fromAt: number
    readonly toAt: number
  },
): readonly string[] {
  const { fromAt = played.fromAt, toAt = played.toAt } = asked
  const leastMs = Math.max(RANGE_LACK_MS_MIN, ...played.coverage.map(({ stepMs }) => 2 * stepMs))
  return [
    ...(played.fromAt - fromAt > leastMs
      ? [
          `The prices begin at ${showTime(played.fromAt)}, ${showDuration(played.fromAt - fromAt)} after --from (${showTime(fromAt)}): before that nothing was played.`,
        ]
      : []),
    ...(toAt - played.toAt > leastMs
      ? [
          `The prices end at ${showTime(played.toAt)}, ${showDuration(toAt - played.toAt)} before --to (${showTime(toAt)}): after that nothing was played.`,
        ]
      : []),
  ]
}

const RANGE_LACK_MS_MIN = 60_000

export function remarksOn(
  strategies: readonly LoadedStrategy[],
  coverage: readonly PriceCoverage[],
  { delisting }: EmbeddedSimulatorSettings,
): readonly string[] {
  const [from, to] = [
    Math.min(...coverage.map((one) => one.fromAt)),
    Math.max(...coverage.map((one) => one.toAt)),
  ]
  return [
    ...strategies.flatMap(({ id, silentHistory = [] }) =>
      silentHistory.map(
        (file) =>
          `${id}: its history ${file} holds no candle that closed before ${showTime(from)}.`,
      ),
    ),
    ...coverage.flatMap(({ symbol, fromAt, toAt, gaps }) => [
      ...(fromAt > from
        ? [`${symbol} begins later, at ${showTime(fromAt)}: before that it is not listed.`]
        : []),
      ...(toAt < to
        ? [
            `${symbol} ends earlier, at ${showTime(toAt)}: from then on it is not listed, and what was held of it ${
              delisting === 'close'
                ? 'is closed at its last price, as at a delivery'
                : 'stays at its last price, without funding'
            } (simulator.delisting).`,
          ]
        : []),
      ...(gaps.count > 0
        ? [
            `${symbol} has ${showCount(gaps.count, 'gap')}, ${Math.round(gaps.totalMs / 60_000)} minutes in all: the price stands still in them and ` +
              'grows old, so that nothing is decided on it. The longest: ' +
              `${gaps.longest.map((gap) => `${showTime(gap.fromAt)} to ${showTime(gap.toAt)}`).join('; ')}.`,
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

/** A smaller share of minutes without a trade is usual. */
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

const DAY_MS = 86_400_000

export function remarksOnFunding(
  config: DaemonConfig,
  recordings: readonly Recording[],
  played?: { readonly fromAt: number; readonly toAt: number },
): readonly string[] {
  return recordings.flatMap(({ symbol, rows, funding }) => {
    const paidAt = showMinutes(fundingMinutesOf(config, symbol))
    if (funding !== undefined) {
      const { fromAt = rows.at[0] ?? 0, toAt = rows.at.at(-1) ?? 0 } = played ?? {}
      return coversWhole(funding, fromAt, toAt) ? [] : [describePart(symbol, funding, paidAt)]
    }
    const others = describeOtherTimes(rows, fundingMinutesOf(config, symbol))
    return others === undefined
      ? []
      : [
          `${symbol}: its fundingRate changes at ${others} too, and funding is paid at ${paidAt} UTC: set instruments.${symbol}.fundingHours, or give the payments themselves (simulator.market.funding).`,
        ]
  })
}

/**
 * Positions are read at the calendar's funding times, so an instrument that pays at other times
 * gets a remark.
 */
export function remarksOnCalendar(config: DaemonConfig): readonly string[] {
  const minutes = calendarFundingMinutes(config.calendar)
  if (minutes.length === 0) {
    return [
      'calendar.funding is no daily pattern in UTC: strategies do not see when funding is paid next, and a simulated exchange pays it every 8 hours, where fundingHours of an instrument says nothing else.',
    ]
  }
  return Object.keys(config.instruments).flatMap((symbol) => {
    const others = fundingMinutesOf(config, symbol).filter((minute) => !minutes.includes(minute))
    return others.length === 0
      ? []
      : [
          `${symbol}: funding is paid at ${showMinutes(others)} UTC too, when calendar.funding reads no positions: add these times to it.`,
        ]
  })
}

function coversWhole({ at }: RecordedFunding, fromAt: number, toAt: number): boolean {
  return (at[0] ?? 0) - fromAt <= DAY_MS && toAt - (at.at(-1) ?? 0) <= DAY_MS
}

function describePart(symbol: string, { at }: RecordedFunding, paidAt: string): string {
  const [first, last] = [at[0], at.at(-1)].map((time) =>
    new Date(time ?? 0).toISOString().slice(0, 16),
  )
  return `${symbol}: payments of funding are known from ${first} to ${last}; outside, funding is assumed as without a file, at ${paidAt} UTC.`
}
