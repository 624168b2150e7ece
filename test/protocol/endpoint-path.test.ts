import { expect, test } from 'vitest'
import { formatPath } from '../../src/protocol/endpoint-path.ts'
import { endpointNamed } from '../../src/protocol/endpoints.ts'

const TEMPLATE = endpointNamed('convertRecords').path

test('a path is filled in with the platform’s own coin', () => {
  const path = formatPath(TEMPLATE, { platform_coin: 'xyz' })

  expect(path).toBe('/api/v2/convert/xyz-convert-records')
})

test('a path without parameters is itself', () => {
  const { path } = endpointNamed('tickers')

  expect(formatPath(path, {})).toBe(path)
})

test('a coin that is missing, in capitals or no ticker is refused', () => {
  expect(() => formatPath(TEMPLATE, {})).toThrow('platform_coin')
  for (const coin of ['', 'XYZ', 'x/y', '..', 'a-b']) {
    expect(() => formatPath(TEMPLATE, { platform_coin: coin }), coin).toThrow('platform_coin')
  }
})
