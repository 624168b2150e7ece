import { expect, it } from 'vitest'
import {
  type ShareAnswer,
  type ShareReport,
} from '../../../src/exchange/limiter/shared/share-script.ts'
import { SharedLimits } from '../../../src/exchange/limiter/shared/shared-limits.ts'
import { HandTime } from '../limiter-fixture.ts'

it('[LIM1] gives back only calls that count no more', async () => {
  const time = new HandTime(0)
  const reported: (number | undefined)[] = []
  const report = ({ limits }: ShareReport): Promise<ShareAnswer> => {
    reported.push(limits[0]?.held)
    return Promise.resolve({
      kind: 'granted',
      now: time.now(),
      live: 2,
      limits: [{ held: 18, target: 10, gone: 0 }],
    })
  }
  const store = { report, readTime: () => Promise.resolve(time.now()), close: () => undefined }
  const use = { inside: 0, waiting: 0 }
  const shared = new SharedLimits({
    store,
    id: 'one',
    members: 2,
    lateMs: 1e3,
    clock: time,
    timers: time,
    onLost: () => undefined,
    onRefused: () => undefined,
    onJoined: () => undefined,
  })
  const mayMake = shared.add({
    name: 'all',
    calls: 20,
    perMs: 60_000,
    readUse: () => use,
    onMore: () => undefined,
  })

  const mayHaveMade: number[] = []
  for (const [inside, reports] of [
    [0, 1],
    [18, 1],
    [18, 60],
    [13, 9],
    [4, 9],
  ] as const) {
    use.inside = inside
    for (let made = 0; made < reports; made++) {
      time.advance(400)
      for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    }
    mayHaveMade.push(mayMake())
  }

  // What is in use is given back over the window of a minute, what is not at once.
  expect([0, 1, 61, 70, 79].map((place) => reported[place])).toEqual([5, 18, 18, 14, 10])
  expect(mayHaveMade).toEqual([10, 17, 14, 14, 10])
})
