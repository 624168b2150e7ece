import { expect, test } from 'vitest'
import { findSignedWithoutLease, readSigned } from './signed-requests.ts'

const MACHINES = new Map([
  ['10.77.0.5', 'a'],
  ['10.77.0.6', 'b'],
])

test('a read that an old writer signs when another has the lease is found; one signed before is not', () => {
  const requests = readSigned(
    [
      '900.000 /fills 200 ::ffff:10.77.0.5 899',
      '1300.000 /fills 400 ::ffff:10.77.0.5 990',
      '1400.000 /position 200 ::ffff:10.77.0.5 1390',
      '1400.000 /tickers 200 ::ffff:10.77.0.5 -',
      '1400.000 /fills 200 10.77.0.6 1390',
      '2500.000 /fills 200 10.77.0.5 2490',
    ],
    MACHINES,
  )

  const found = findSignedWithoutLease(requests, [{ machine: 'a', from: 1000, to: 2000 }])

  expect(requests).toHaveLength(5)
  expect(found).toEqual(['a signed /position 390 ms after another had the lease (answer 200)'])
})
