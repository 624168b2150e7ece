import { describe, expect, test } from 'vitest'
import { drawTimeline } from '../support/world/timeline.ts'
import { shrinkWorld } from '../support/world/shrink-world.ts'
import { FAULTS } from '../support/faults/virtual-faults.ts'
import { violate, type World, type WorldWatcher } from '../support/world/world.ts'
import { planWorld } from '../support/world/world-plan.ts'
import { renderFailure, renderSummary } from './campaign-report.ts'
import { addSummary, createSummary } from './campaign-summary.ts'

describe('the closing table', () => {
  test('says every kind of fault, also one that never struck, and how many worlds violated', () => {
    const summary = createSummary()
    addSummary(summary, {
      ...createSummary(),
      worlds: 1200,
      orders: 34,
      faults: { requestLost: 5 },
    })
    addSummary(summary, {
      ...createSummary(),
      worlds: 800,
      orders: 6,
      faults: { requestLost: 2, death: 1 },
    })

    const lines = renderSummary(summary, { wallMs: 60_000, cpuMs: 120_000 })

    const words = lines.map((line) => line.trim().split(/\s+/).slice(0, 2).join(' '))
    expect(words).toContain('worlds 2,000')
    expect(words).toContain('orders 40')
    expect(words).toContain('requestLost 7')
    expect(words).toContain('answerLost 0')
    expect(words.filter((word) => (word.split(' ')[0] ?? '') in FAULTS)).toHaveLength(
      Object.keys(FAULTS).length,
    )
    expect(lines.find((line) => line.startsWith('a minute of one core'))).toMatch(/ 1,000$/)
    expect(lines.at(-1)).toMatch(/^violations +0$/)
  })
})

describe('a failure is printed', () => {
  test(
    'with its shrunk script, the end of its timeline, and how to see it again',
    { timeout: 240_000 },
    () => {
      const plan = { ...planWorld('20'), faults: { answerLost: 0.2 }, faultyMs: 5000 }
      const shrunk = shrinkWorld({ plan, extra: [failOnLostBatch], runsMax: 100 })
      const failure = { seed: '20', violation: { id: 'PLANTED', at: 0, detail: 'for the test' } }

      const lines = renderFailure(
        failure,
        shrunk,
        shrunk ? drawTimeline(shrunk.plan, [failOnLostBatch]).lines : [],
      )

      const text = lines.join('\n')
      expect(lines[0]).toBe('seed 20 violates PLANTED: for the test')
      expect(text).toMatch(
        /shrunk in \d+ runs.* to 1 faults:\n {2}answerLost @ batchPlaceOrder #\d+/,
      )
      expect(text).toContain('npm run fuzz -- --seed 20 --trace')
      expect(lines.some((line) => line.includes('✗ answerLost @ batchPlaceOrder'))).toBe(true)
      expect(Math.max(...lines.slice(10).map(({ length }) => length))).toBeLessThanOrEqual(120)
    },
  )
})

describe('the timeline of a world', () => {
  const { lines } = drawTimeline({ ...planWorld('3'), faults: {}, faultyMs: 5000 })

  test('fits into a terminal of 120 columns', () => {
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(120)
  })

  test('has the client on the left and the exchange on the right of one line', () => {
    const bars = lines.filter((line) => line.includes('│')).map((line) => line.indexOf('│'))

    expect(new Set(bars).size).toBe(1)
    expect(lines.some((line) => /batch 1 leaves .*│/.test(line))).toBe(true)
    expect(lines.some((line) => /│ batchPlaceOrder: \d+ succeeded/.test(line))).toBe(true)
  })
})

function failOnLostBatch(world: World): WorldWatcher {
  return {
    afterStep() {
      const isHit = world.faults.struck.some(({ site }) => site === 'batchPlaceOrder')
      if (isHit) violate(world, 'PLANTED', 'for the test')
    },
  }
}
