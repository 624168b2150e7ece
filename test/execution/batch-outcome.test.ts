import { describe, expect, test } from 'vitest'
import { type Answer, type RefusalClass } from '../../src/domain/answer.ts'
import { toClientOid } from '../../src/domain/ids.ts'
import { readBatchOutcome } from '../../src/execution/batch.ts'
import { type BatchResult } from '../../src/protocol/values.ts'

const IDS = ['a', 'b', 'c'].map(toClientOid)
const outcomes = (answer: Answer<BatchResult>) =>
  readBatchOutcome(IDS, answer).map(({ outcome }) => outcome)
const accepted = (data: BatchResult): Answer<BatchResult> => ({
  kind: 'accepted',
  data,
  receivedAt: 1,
})
const success = (clientOid: string, orderId: string | null = '7') => ({ clientOid, orderId })
const failure = (clientOid: string, errorCode: string | null) => ({
  clientOid,
  orderId: '',
  errorMsg: '',
  errorCode,
})

describe('[ORD6] the answer to a batch', () => {
  test('gives each item its own outcome: success with a failure list is no success', () => {
    const answer = accepted({ successList: [success('a')], failureList: [failure('b', '45111')] })

    expect(outcomes(answer)).toEqual(['accepted', 'rejected', 'unknown'])
  })

  test('[ORD3] that names an item in both lists says that it exists', () => {
    const answer = accepted({ successList: [success('a')], failureList: [failure('a', '45111')] })

    expect(outcomes(answer)[0]).toBe('accepted')
  })

  test('may accept without an orderId', () => {
    expect(
      readBatchOutcome(IDS, accepted({ successList: [success('a', null)], failureList: [] }))[0],
    ).toEqual({ clientOid: 'a', outcome: 'accepted' })
  })

  test.each([
    ['45111', 'rejected'],
    ['40786', 'exists'],
    ['45129', 'unknown'],
    ['40725', 'unknown'],
    ['99999', 'unknown'],
    ['', 'unknown'],
    [null, 'unknown'],
  ])('reads the code %s of an item as %s', (code, outcome) => {
    expect(outcomes(accepted({ successList: [], failureList: [failure('a', code)] }))[0]).toBe(
      outcome,
    )
  })

  test.each<[RefusalClass, string]>([
    ['definite', 'rejected'],
    ['invalid', 'rejected'],
    ['retry', 'unknown'],
    ['notSent', 'notSent'],
    ['exists', 'unknown'],
  ])('that is refused as %s makes every item %s', (refusal, outcome) => {
    const answer = {
      class: refusal,
      code: '1',
      topic: 't',
      message: '',
      status: 400,
      receivedAt: 1,
    } as const

    expect(outcomes({ kind: 'refused', ...answer })).toEqual([outcome, outcome, outcome])
  })

  test('[ORD3] that never came makes every item unknown', () => {
    const answer = {
      cause: 'timeout',
      code: '',
      message: '',
      status: undefined,
      receivedAt: 1,
    } as const

    expect(readBatchOutcome(IDS, { kind: 'unknown', ...answer })).toMatchObject(
      IDS.map((clientOid) => ({ clientOid, outcome: 'unknown', code: 'timeout' })),
    )
  })
})
