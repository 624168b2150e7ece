import { expect, test } from 'vitest'
import { remarksOnCalendar } from '../../src/backtest/opening/price-remarks.ts'
import { loadConfig } from '../../src/config/load-config.ts'

const remarksOf = (...overrides: readonly string[]): readonly string[] =>
  remarksOnCalendar(loadConfig({ file: 'config/paper.yaml', cwd: process.cwd(), overrides }).config)

test('a calendar that fits to the instruments needs no remark', () => {
  expect(remarksOf()).toEqual([])
  expect(remarksOf('instruments.BTCUSDT.fundingHours=4', 'calendar.funding=5 0 */4 * * *')).toEqual(
    [],
  )
})

test('funding that is paid when the calendar reads nothing is named', () => {
  expect(remarksOf('instruments.BTCUSDT.fundingHours=4')).toEqual([
    'BTCUSDT: funding is paid at 04:00, 12:00 and 20:00 UTC too, when calendar.funding reads no positions: add these times to it.',
  ])
})

test('a pattern that is no daily one says nothing of when funding is paid', () => {
  expect(remarksOf('calendar.funding=5 0 0 * * 1')[0]).toContain(
    'calendar.funding is no daily pattern in UTC',
  )
})
