import { describe, expect, it } from 'vitest'
import { errorCode, listedErrorCodes } from '../../src/protocol/error-codes.ts'
import { refusals } from '../../src/simulator/shared/refusals.ts'
import { wireRefusals } from '../../src/simulator/wire/checks/refusal.ts'

/** Each refusal of a table: functions are called, groups opened. */
function codesOf(entry: unknown): readonly string[] {
  if (typeof entry === 'function') return codesOf(entry('1', '1', '1'))
  const { code, ...others } = entry as Readonly<Record<string, unknown>>
  return typeof code === 'string' ? [code] : Object.values(others).flatMap(codesOf)
}

describe('error codes', () => {
  const known = [
    ['40009', 'definite', 'auth'],
    ['40012', 'definite', 'auth'],
    ['40037', 'definite', 'auth'],
    ['40008', 'retry', 'clock'],
    ['40017', 'definite', 'parameter'],
    ['40808', 'definite', 'parameter'],
    ['40754', 'definite', 'balance'],
    ['45110', 'definite', 'notionalMin'],
    ['45111', 'definite', 'sizeMin'],
    ['22038', 'definite', 'sizeStep'],
    ['45115', 'definite', 'priceStep'],
    ['43039', 'definite', 'priceHigh'],
    ['40815', 'definite', 'wouldTake'],
    ['40774', 'definite', 'positionMode'],
    ['40920', 'definite', 'positionMode'],
    ['45117', 'definite', 'marginMode'],
    ['22020', 'definite', 'leverage'],
    ['45097', 'definite', 'leverage'],
    ['25223', 'definite', 'leverage'],
    ['22002', 'definite', 'noPosition'],
    ['22001', 'definite', 'orderGone'],
    ['40309', 'definite', 'instrument'],
    ['429', 'retry', 'rate'],
    ['45001', 'ambiguous', 'system'],
    ['40725', 'ambiguous', 'system'],
    ['40010', 'ambiguous', 'system'],
  ] as const
  for (const [code, errorClass, topic] of known) {
    it(`${code} is ${errorClass}, about ${topic}`, () => {
      expect(errorCode(code)).toEqual({ class: errorClass, topic })
    })
  }

  it('[ORD2] a duplicate clientOid means that the order exists, by whichever code', () => {
    for (const code of ['40786', '45034', '43118', '50060', '40708', '25212']) {
      expect(errorCode(code), code).toEqual({ class: 'exists', topic: 'duplicate' })
    }
  })

  it('[ORD3] what is not listed is ambiguous: unknown is never rejected', () => {
    for (const code of ['99999', '', '0', '00002', 'constructor', '__proto__', null, undefined]) {
      expect(errorCode(code)).toEqual({ class: 'ambiguous', topic: 'system' })
    }
  })

  it.each([...new Set(codesOf({ ...refusals, ...wireRefusals }))])(
    'lists %s, with which the simulator refuses',
    (code) => {
      expect(
        new Map(listedErrorCodes()).has(code),
        `add ${code} to CODES in src/protocol/error-codes.ts: an unlisted code leaves a call unknown`,
      ).toBe(true)
    },
  )

  it('lists no code twice, and success not at all', () => {
    const codes = [...listedErrorCodes()].map(([code]) => code)
    expect(new Set(codes).size).toBe(codes.length)
    expect(codes).not.toContain('00000')
    for (const code of codes) expect(code).toMatch(/^\d{3,6}$/)
  })
})
