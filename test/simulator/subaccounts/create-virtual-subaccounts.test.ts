import { subaccountsOf } from '../../../src/simulator/subaccounts/subaccounts.ts'
import { expect, test } from 'vitest'
import { ANNA, BERT, ExchangeBench, TARA } from '../exchange-bench.ts'
import { START_AT } from '../wire/signed-request.ts'

async function openBench(subaccountsMax = 20) {
  const bench = await ExchangeBench.open({ services: { subaccounts: { subaccountsMax } } })
  const create = (account: typeof ANNA, ...subAccountList: readonly string[]) => {
    bench.wait(1000)
    return bench.call(account, 'createVirtualSubaccounts', { body: { subAccountList } })
  }
  return { bench, create }
}

test('creates what is asked for, and answers every field of the document', async () => {
  const { bench } = await openBench()

  const answer = bench.data(ANNA, 'createVirtualSubaccounts', {
    body: { subAccountList: ['testtest'] },
  })

  expect(answer).toEqual({
    successList: [
      {
        subaAccountUid: expect.stringMatching(/^7\d{9}$/),
        subaAccountName: 'testtest',
        status: 'normal',
        permList: ['contract_trade', 'spot_trade'],
        label: '',
        cTime: String(START_AT),
        uTime: String(START_AT),
      },
    ],
    failureList: [],
  })
})

test('an alias that anybody has, in whatever letters, is put in the failure list', async () => {
  const { create } = await openBench()
  create(ANNA, 'aaaaaaaa')

  const again = create(ANNA, 'aaaaaaaa', 'bbbbbbbb')
  const ofAnother = create(TARA, 'AAAAAAAA')

  expect(again.data).toMatchObject({
    successList: [{ subaAccountName: 'bbbbbbbb' }],
    failureList: [{ subaAccountName: 'aaaaaaaa' }],
  })
  expect(ofAnother).toMatchObject({
    code: '00000',
    data: { successList: [], failureList: [{ subaAccountName: 'AAAAAAAA' }] },
  })
})

test('of one alias twice in a list the second is put in the failure list', async () => {
  const { bench, create } = await openBench()

  const answer = create(ANNA, 'aaaaaaaa', 'bbbbbbbb', 'aaaaaaaa')

  expect(answer).toMatchObject({
    code: '00000',
    data: {
      successList: [{ subaAccountName: 'aaaaaaaa' }, { subaAccountName: 'bbbbbbbb' }],
      failureList: [{ subaAccountName: 'aaaaaaaa' }],
    },
  })
  expect(subaccountsOf(bench.exchange.services.subaccounts, ANNA.uid)).toHaveLength(2)
})

test('what is beyond the limit of the account is put in the failure list', async () => {
  const { bench, create } = await openBench(2)

  const first = create(ANNA, 'aaaaaaaa', 'bbbbbbbb', 'cccccccc')
  const ofAnother = create(TARA, 'cccccccc')

  expect(first.data).toMatchObject({ failureList: [{ subaAccountName: 'cccccccc' }] })
  expect(ofAnother.data).toMatchObject({ failureList: [] })
  expect(
    subaccountsOf(bench.exchange.services.subaccounts, ANNA.uid).map(({ alias }) => alias),
  ).toEqual(['aaaaaaaa', 'bbbbbbbb'])
})

test('no two sub-accounts have one UID', async () => {
  const { bench, create } = await openBench()
  create(ANNA, 'aaaaaaaa', 'bbbbbbbb')
  create(TARA, 'cccccccc')

  const uids = [ANNA, TARA].flatMap(({ uid }) =>
    subaccountsOf(bench.exchange.services.subaccounts, uid),
  )

  expect(new Set(uids.map(({ uid }) => uid)).size).toBe(3)
})

test('a key that is bound to no address is refused', async () => {
  const { create } = await openBench()

  expect(create(BERT, 'aaaaaaaa')).toMatchObject({
    status: 400,
    code: '22010',
    msg: 'Please bind ip whitelist address',
  })
})

test('what is no alias stands in the failure list, and the others are created', async () => {
  const { bench, create } = await openBench()
  const wrong = ['aaaaaaa', 'aaaaaaaaa', 'aaaaaaa1', 'аaaaaaaa']

  const { data } = create(ANNA, ...wrong, 'aaaaaaaa')

  expect(data).toMatchObject({ failureList: wrong.map((alias) => ({ subaAccountName: alias })) })
  expect(subaccountsOf(bench.exchange.services.subaccounts, ANNA.uid)).toMatchObject([
    { alias: 'aaaaaaaa' },
  ])
})

test('an empty list of aliases is refused', async () => {
  const { create } = await openBench()

  expect(create(ANNA)).toMatchObject({ status: 400, code: '40019' })
})
