import { expect, test } from 'vitest'
import { createPorts, ObserverQueue } from '../../src/daemon/account/account-ports.ts'
import { ManualTime } from '../support/manual-time.ts'

/** What observers saw, and their errors. */
function openQueue() {
  const time = new ManualTime(0)
  const seen: string[] = []
  const errors: unknown[] = []
  const queue = new ObserverQueue(time, (error) => errors.push(error))
  return { time, seen, errors, queue }
}

test('observers learn after the turn, in the order in which it happened', async () => {
  const { time, seen, queue } = openQueue()

  queue.later(() => seen.push('first'))
  queue.later(() => seen.push('second'))
  expect(seen).toEqual([])

  await time.pass(0)
  expect(seen).toEqual(['first', 'second'])
})

test('a flush brings observers up to date, and nothing is observed twice', async () => {
  const { time, seen, queue } = openQueue()
  queue.later(() => seen.push('first'))

  queue.flush()
  expect(seen).toEqual(['first'])

  queue.later(() => seen.push('second'))
  await time.pass(1)
  expect(seen).toEqual(['first', 'second'])
})

test('an observer that throws keeps nothing from the others', async () => {
  const { time, seen, errors, queue } = openQueue()
  const error = new Error('a defect')
  queue.later(() => {
    throw error
  })
  queue.later(() => seen.push('second'))

  await time.pass(0)

  expect(errors).toEqual([error])
  expect(seen).toEqual(['second'])
})

test('no statistics, log or view is called in the turn in which an order may leave', async () => {
  const { time, seen, queue } = openQueue()
  const observer = (name: string) => new Proxy({}, { get: () => () => seen.push(name) }) as never
  const names = ['eventLog', 'statistics', 'recent', 'wishes', 'plots', 'health', 'signals', 'pace']
  const observers = Object.fromEntries(names.map((name) => [name, observer(name)]))
  const { announcements, listener } = createPorts(
    Object.assign(observers, { observers: queue, directory: '', trusted: {} }) as never,
  )

  listener.stepped?.({ at: 0, event: { kind: 'timePassed' }, effects: [] })
  listener.recorded?.({ kind: 'cancel' } as never, true)
  listener.decided?.([])
  listener.plotted?.('grid' as never, [])
  listener.batchDurable?.({ waitedMs: 0, mostMs: 0 })
  announcements.announce({} as never)
  expect(seen).toEqual([])

  await time.pass(0)
  expect(new Set(seen)).toEqual(new Set(names))
})
