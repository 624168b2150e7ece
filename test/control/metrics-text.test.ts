import { expect, test } from 'vitest'
import { renderMetrics } from '../../src/control/metrics-text.ts'

test('a histogram has its buckets, sum and count under one type', () => {
  const labels = { endpoint: 'tickers' }
  const text = renderMetrics(
    new Map([
      [
        'intentd_request_seconds',
        [
          { value: 1, labels: { ...labels, le: '0.1' }, series: 'bucket' },
          { value: 2, labels: { ...labels, le: '+Inf' }, series: 'bucket' },
          { value: 2.55, labels, series: 'sum' },
          { value: 2, labels, series: 'count' },
        ],
      ],
    ]),
  )

  expect(text.split('\n').slice(1)).toEqual([
    '# TYPE intentd_request_seconds histogram',
    'intentd_request_seconds_bucket{endpoint="tickers",le="0.1"} 1',
    'intentd_request_seconds_bucket{endpoint="tickers",le="+Inf"} 2',
    'intentd_request_seconds_sum{endpoint="tickers"} 2.55',
    'intentd_request_seconds_count{endpoint="tickers"} 2',
    '',
  ])
})

test('a sum of floats is shown without its rest, and what is unknown or endless in words', () => {
  const text = renderMetrics(
    new Map([
      ['intentd_equity', [{ value: 100.00000000000006 }, { value: Number.NaN }]],
      ['intentd_fills_age_seconds', [{ value: 0.1 + 0.2 }, { value: Number.POSITIVE_INFINITY }]],
      ['process_start_time_seconds', [{ value: 1_795_861_773.426 }]],
    ]),
  )

  expect(text.split('\n').filter((line) => !line.startsWith('#'))).toEqual([
    'intentd_fills_age_seconds 0.3',
    'intentd_fills_age_seconds +Inf',
    'intentd_equity 100',
    'intentd_equity NaN',
    'process_start_time_seconds 1795861773.426',
    '',
  ])
})
