import { expect, it } from 'vitest'
import { type ShareAnswer, type ShareReport } from '../../../src/exchange/limiter/shared/share-script.ts'
import { SharedLimits } from '../../../src/exchange/limiter/shared/shared-limits.ts'
import { HandTime } from '../limiter-fixture.ts'

it('[LIM1] gives back only calls that count no more', async () => {
  const time = new HandTime(0)
  const reported: (number | undefined)[] = []
  const report = ({ limits }: ShareReport): Promise<ShareAnswer> => {
    reported.push(limits[0]?.held)
    return Promise.resolve({ kind: 'granted', now: time.now(), live: 2, limits: [{ held: 18, target: 10 }] })
  }
  const store = { report, readTime: () => Promise.resolve(time.now()), close: () => undefined }
  const use = { inside: 0, waiting: 0 }
  const shared = new SharedLimits({
    ...{ store, id: 'one', members: 2, lateMs: 1000, clock: time, timers: time },
    onLost: () => undefined,
    onJoined: () => undefined,
  })
  const mayMake = shared.add({ calls: 20, perMs: 60_000, readUse: () => use, onMore: () => undefined })

  for (const inside of [0, 18, 13, 4]) {
    use.inside = inside
    time.advance(400)
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  }

  expect(reported).toEqual([5, 18, 13, 10])
  expect(mayMake()).toBe(10)
})
