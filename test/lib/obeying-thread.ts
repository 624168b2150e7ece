// A thread that does what the test of the supervised thread tells it to.

import { getHeapSpaceStatistics } from 'node:v8'
import { Failure } from '../../src/lib/failure.ts'
import { hearPosted, runTask } from '../../src/lib/supervised-thread.ts'

export type Order =
  | 'finish'
  | 'fail'
  | 'throw later'
  | 'exit'
  | 'wait'
  | 'loop'
  | 'grow'
  | 'fill'
  | 'echo'
  | 'discard'

const DEEDS: Readonly<Record<Order, (report: (news: unknown) => void) => Promise<void> | void>> = {
  finish(report) {
    report(Object.keys(process.env))
    report([process.argv.slice(2), process.execArgv])
  },
  fail: () => {
    throw new Failure({
      code: 'MADE_UP',
      sentence: 'it does not: want to',
      facts: { at: 7 },
      hint: 'ask again',
      cause: Object.assign(new Error('deeper'), { cannotCross: () => undefined }),
    })
  },
  'throw later': () => {
    queueMicrotask(() => {
      throw new TypeError('nothing waits for it')
    })
    return new Promise(() => undefined)
  },
  exit: () => process.exit(3),
  wait(report) {
    report('begun')
    // It lives: what only waits for a promise would end.
    return hearPosted(() => undefined)
  },
  loop() {
    for (;;);
  },
  grow() {
    const kept: Buffer[] = []
    for (;;) kept.push(Buffer.alloc(1_000_000, 1))
  },
  fill() {
    const kept: object[] = []
    for (;;) kept.push({ kept: kept.length })
  },
  discard(report) {
    let kept: object[] = []
    let most = 0
    for (let made = 0; made < 1_000_000; made++) {
      kept.push({ made, also: [made] })
      if (made % 10_000 !== 0) continue
      kept = []
      const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
      most = Math.max(most, young?.space_size ?? 0)
    }
    report(most)
  },
  echo: (report) => hearPosted(report),
}

await runTask<{ readonly order: Order }, unknown>(({ order }, report) => DEEDS[order](report))
