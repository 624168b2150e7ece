import { expect, test } from 'vitest'
import { parseStat, Patience, readThreadTime, silentMsOf } from '../../src/lib/supervised-thread.ts'

const STAT =
  '4711 (node (a) b) R 1 4711 4711 0 -1 4194304 9 0 0 0 250 30 0 0 20 0 11 0 100 1000 200 18446744073709551615'

test('state and processor time are read whatever the name of the program is', () => {
  expect(parseStat(STAT)).toEqual({ isRunnable: true, cpuMs: 2800 })
  expect(parseStat(STAT.replace(') R', ') S'))).toMatchObject({ isRunnable: false })
  expect(parseStat('nonsense')).toBeUndefined()
})

test.runIf(process.platform === 'linux')('a machine with /proc tells of this very thread', () => {
  expect(readThreadTime(process.pid)?.cpuMs).toBeGreaterThan(0)
})

test.each([
  ['one that has run all the time hangs for all of it', { isRunnable: true, cpuMs: 2000 }, 1000],
  ['one that got a tenth of a processor hangs for a tenth', { isRunnable: true, cpuMs: 1100 }, 100],
  ['one without a processor does not hang', { isRunnable: true, cpuMs: 1000 }, 0],
  [
    'one that waits for a reader of its log hangs for all of it',
    { isRunnable: false, cpuMs: 1000 },
    1000,
  ],
  ['where the machine does not tell, all of it counts', undefined, 1000],
])('%s', (_, now, silentMs) => {
  expect(silentMsOf(1000, { isRunnable: true, cpuMs: 1000 }, now)).toBe(silentMs)
})

test('silence grows by a check each time, until there is a sign of life or none is due', () => {
  const patience = new Patience(100)
  const silences = [1, 1, 1, 2, 2, undefined, undefined, 2, 2].map((signs) => patience.check(signs))
  expect(silences).toEqual([0, 100, 200, 0, 100, 0, 0, 0, 100])
})

test('a thread that is judged by its processor time is silent for what it has used', () => {
  let cpuMs = 0
  const patience = new Patience(100, () => ({ isRunnable: true, cpuMs: (cpuMs += 30) }))
  expect([1, 1, 1].map((signs) => patience.check(signs))).toEqual([0, 30, 60])
})
