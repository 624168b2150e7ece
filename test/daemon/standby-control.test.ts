import { expect, test } from 'vitest'
import { formatStatus } from '../../src/cli/control/status.ts'
import {
  noteLook,
  type StandbyLook,
  StandbyControl,
} from '../../src/daemon/control/standby-control.ts'
import { ManualTime } from '../support/manual-time.ts'

const STATE = {
  holder: 'live on a, pid 7',
  behind: 2,
  freeInMs: 13_000,
  differs: [] as readonly string[],
}

/** A standby of which everybody asks how it stands. */
function openScene() {
  const time = new ManualTime(1_000_000)
  let seen: StandbyLook | undefined
  const standby = new StandbyControl({
    name: 'live',
    version: '1',
    environment: 'demo',
    exchange: '',
    configOption: '',
    clock: time,
    logger: { listen: () => undefined },
    fleet: undefined,
    seen: () => seen,
    closedPort: () => undefined,
    refusesDifference: true,
  })
  const look = (trouble?: string, state = STATE): void => {
    seen = noteLook(seen, { ...state, ...(trouble !== undefined && { trouble }) }, time.now())
  }
  const said = (): string => formatStatus(standby.status(), true).replaceAll(/\s+/g, ' ')
  return { time, standby, look, said }
}

test('a standby says whom it follows, and when it takes over', () => {
  const { look, said, standby } = openScene()
  const before = said()
  look()

  expect(before).toMatch('standby')
  expect(before).toMatch('has not looked yet')
  expect(before).not.toMatch('takes over')
  expect(said()).toMatch(
    'follows live on a, pid 7; looked 0.0 s ago, and was 2 transactions behind',
  )
  expect(said()).toMatch('takes over in 13 s unless the lease is renewed')
  expect(standby.readiness().isReady).toBe(true)
})

test('one whose server is away says that it takes nothing over, and when it looked last', async () => {
  const { time, look, said, standby } = openScene()
  look()
  await time.pass(20_000)
  look('connect ECONNREFUSED')

  expect(said()).toMatch('looked 20 s ago')
  expect(said()).toMatch(
    'cannot look now, and takes nothing over until it can: connect ECONNREFUSED',
  )
  expect(said()).not.toMatch('takes over in')
  expect(standby.status().standby).toMatchObject({ freeInMs: null, seenAt: 1_000_000 })
  expect(standby.metrics()).toMatch(/intentd_standby_seen_age_seconds 20\b/)
  expect(standby.readiness().isReady).toBe(false)
})

test('one that would trade otherwise than its writer says what, and is not ready to take over', () => {
  const { look, said, standby } = openScene()
  look(undefined, { ...STATE, differs: ['risk', 'strategy grid is missing here'] })

  expect(said()).toMatch(
    '! it would trade otherwise than the writer: risk, strategy grid is missing here',
  )
  expect(standby.metrics()).toMatch(/intentd_standby_differs 2\b/)
  expect(standby.readiness()).toMatchObject({ isReady: false, checks: { setup: { ok: false } } })
})

test('one that could never look says why', () => {
  const { look, said, standby } = openScene()
  look('no route')

  expect(said()).toMatch('has not looked yet')
  expect(said()).toMatch('no route')
  expect(standby.status().standby).toMatchObject({ behind: null, seenAt: null, freeInMs: null })
})

test('of a journal that nobody has written yet it names no writer', () => {
  const { look, said, standby } = openScene()
  look(undefined, { holder: '', behind: 1, freeInMs: 0, differs: [] })

  expect(said()).toMatch(
    /standby nobody has written the journal yet; looked [^;]* and was 1 transaction behind/,
  )
  expect(standby.readiness().checks['standby']?.found).toBe('nobody has written the journal yet')
})
