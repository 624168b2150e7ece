import { expect, test } from 'vitest'
import { createPorts } from '../../src/daemon/account/account-ports.ts'
import { ObserverQueue } from '../../src/daemon/reporting/observer-queue.ts'
import { ManualTime } from '../support/manual-time.ts'

/** What observers were told, and their errors. */
function openQueue() {
  const time = new ManualTime(0)
  const told: string[] = []
  const errors: unknown[] = []
  const queue = new ObserverQueue(time, (error) => errors.push(error))
  return { time, told, errors, queue }
}

test('observers are told after the turn, in the order in which it happened', async () => {
  const { time, told, queue } = openQueue()

  queue.later(() => told.push('first'))
  queue.later(() => told.push('second'))
  expect(told).toEqual([])

  await time.pass(0)
  expect(told).toEqual(['first', 'second'])
})

test('who reads an observer is shown all that has happened, and nothing is told twice', async () => {
  const { time, told, queue } = openQueue()
  queue.later(() => told.push('first'))

  queue.flush()
  expect(told).toEqual(['first'])

  queue.later(() => told.push('second'))
  await time.pass(1)
  expect(told).toEqual(['first', 'second'])
})

test('an observer that throws keeps nothing from the others', async () => {
  const { time, told, errors, queue } = openQueue()
  const error = new Error('a defect')
  queue.later(() => {
    throw error
  })
  queue.later(() => told.push('second'))

  await time.pass(0)

  expect(errors).toEqual([error])
  expect(told).toEqual(['second'])
})

test('no statistics, log or view is called in the turn in which an order may leave', async () => {
  const { time, told, queue } = openQueue()
  const observer = (name: string) => new Proxy({}, { get: () => () => told.push(name) }) as never
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
  expect(told).toEqual([])

  await time.pass(0)
  expect(new Set(told)).toEqual(new Set(names))
})
