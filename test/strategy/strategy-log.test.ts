import { expect, test } from 'vitest'
import { BoundedLog, type SaidLine } from '../../src/strategy/strategy-runner.ts'

function openLog() {
  const lines: SaidLine[] = []
  return { lines, log: new BoundedLog((line) => lines.push(line)) }
}

test('[BND1] a decision says ten lines at most, and a minute a hundred; what was left out is counted', () => {
  const { lines, log } = openLog()
  for (let decision = 0; decision < 20; decision++) {
    log.begin(1_000_000 + decision)
    for (let line = 0; line < 15; line++) log.info('looked')
  }
  expect(lines).toHaveLength(100)

  log.begin(1_060_000)
  expect(lines.at(-1)).toEqual({ message: 'lines were left out', facts: { lines: 200 } })
})

test('[BND1] what is said is short, and of plain values', () => {
  const { lines, log } = openLog()
  log.begin(0)
  log.info('x'.repeat(2000), { rsi: 30.5, side: 'buy', odd: { toString: () => 'object' } as never })

  expect(lines).toEqual([
    { message: 'x'.repeat(500), facts: { rsi: 30.5, side: 'buy', odd: 'object' } },
  ])
})
