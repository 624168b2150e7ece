import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type AccountStatusView } from '../../src/control/views.ts'
import { AccountCurve } from '../../src/daemon/reporting/account-curves.ts'
import { ACCOUNT_SERIES } from '../../src/journal/curves.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { viewKeptCurve } from '../../src/views/kept-curve.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const BEGIN = Date.UTC(2026, 0, 1)

let folder: string
let now: number
let equity: number | null
const logged: string[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'account-curve-'))
  now = BEGIN
  equity = 1000
  logged.length = 0
})

afterEach(() => rmSync(folder, { recursive: true }))

function openRun(file = join(folder, 'journal.sqlite')) {
  const journal = openSqliteJournal({ file, identity: 'live 1', keepSince: () => 0 })
  const curve = new AccountCurve({
    journal,
    read: () =>
      ({
        equity: equity === null ? null : String(equity),
        peak: '1100',
        profit: { total: { netWithUnrealised: equity === null ? null : '5' } },
      }) as Pick<AccountStatusView, 'profit' | 'equity' | 'peak'>,
    clock: { now: () => now },
    logger: { log: (_level, event) => logged.push(event) },
  })
  return { journal, curve }
}

/** Looks each second, as a daemon does, but only around the ends of minutes. */
function pass(curve: AccountCurve, minutes: number): void {
  for (let minute = 0; minute < minutes; minute++) {
    curve.look()
    now += MINUTE_MS
  }
}

test('an account has a point for each minute, and none while nothing is known', () => {
  const { journal, curve } = openRun()
  curve.look()
  now += 1000
  curve.look()
  equity = null
  now += MINUTE_MS
  curve.look()
  equity = 990
  now += 1000
  curve.look()
  journal.flush()

  expect([...journal.curve({ series: ACCOUNT_SERIES })]).toEqual([
    { series: ACCOUNT_SERIES, at: BEGIN, value: '1000 5 1100' },
    { series: ACCOUNT_SERIES, at: BEGIN + MINUTE_MS, value: '990 5 1100' },
  ])
  journal.close()
})

test('the equity of a day and a week ago is known over a restart, and not where there was none', () => {
  const first = openRun()
  pass(first.curve, 2)
  expect(first.curve.before()).toEqual({ day: null, week: null })
  first.journal.close()

  now = BEGIN + DAY_MS
  equity = 1010
  const second = openRun()
  expect(second.curve.before()).toEqual({ day: '1000', week: null })
  pass(second.curve, 2)
  second.journal.close()

  now = BEGIN + 7 * DAY_MS + 30 * MINUTE_MS
  const third = openRun()
  expect(third.curve.before()).toEqual({ day: null, week: '1000' })
  now += DAY_MS
  expect(third.curve.before()).toEqual({ day: null, week: '1010' })
  third.journal.close()
})

test('a curve that cannot be read is said once, and nothing else suffers', () => {
  const { journal, curve } = openRun()
  const journalOfOther = {
    notePoints: () => undefined,
    curve: () => {
      throw new RangeError('damaged')
    },
  }
  const damaged = new AccountCurve({
    journal: journalOfOther,
    read: () => undefined,
    clock: { now: () => now },
    logger: { log: (_level, event) => logged.push(event) },
  })

  damaged.look()

  expect([logged, damaged.before()]).toEqual([['curve.unread'], { day: null, week: null }])
  curve.look()
  journal.close()
})

test('[MON1] a long curve is shown in 1,200 points that hold its lowest and its highest one', () => {
  const points = Array.from({ length: 20_000 }, (_, index) => ({
    series: ACCOUNT_SERIES,
    at: BEGIN + index * MINUTE_MS,
    value: index === 7777 ? '1 ? ?' : index === 12_345 ? '5000 ? 5000' : '1000 0 1000',
  }))

  const view = viewKeptCurve({ curve: () => points }, undefined)

  expect(view.at.length).toBeLessThanOrEqual(1200)
  expect(view.at).toEqual(view.at.toSorted((one, other) => one - other))
  expect([Math.min(...view.equity.map(Number)), Math.max(...view.equity.map(Number))]).toEqual([
    1, 5000,
  ])
  expect(view.netWithUnrealised[view.equity.indexOf(1)]).toBeNull()
})
