import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { METRICS } from '../../src/control/metrics-text.ts'
import { buildMetricDocs } from './metric-docs.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

describe('metrics', () => {
  test('docs/metrics.md is what `npm run docs` writes', () => {
    expect(read('docs/metrics.md')).toBe(buildMetricDocs())
  })

  test.each(['deploy/prometheus-alerts.yml', 'deploy/grafana-dashboard.json'])(
    '%s uses those that there are, and no others',
    (file) => {
      const used = new Set(read(file).match(/\b(?:intentd|process)_[a-z_]+\b/g))
      expect(used.size).toBeGreaterThan(4)
      const names = [...used].map((name) => name.replace(/_(?:bucket|sum|count)$/, ''))
      expect(names.filter((name) => !(name in METRICS))).toEqual([])
    },
  )
})
