import { calendarFundingMinutes, fundingMinutesOf } from '../../config/funding-minutes.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import { describeOtherTimes, showMinutes } from '../../prices/funding.ts'
import type { RecordedFunding, Recording } from '../../prices/recording.ts'

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

/** Positions are read at the calendar's funding times. */
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
