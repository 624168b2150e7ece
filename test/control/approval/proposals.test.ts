import { expect, test } from 'vitest'
import { describeProposal } from '../../../src/cli/operator/propose-command.ts'
import { type Confirmed, PROPOSAL_MS } from '../../../src/control/approval/proposals.ts'
import type { ControlRequest } from '../../../src/control/commands.ts'
import type { Approval, CommandPlan } from '../../../src/control/controlled.ts'
import { codeAt, ProposalBench } from '../../support/approval/memory-pairing.ts'

const PORT = { entrance: 'port', verified: 'port:control.token' } as const
const SOCKET = { entrance: 'socket', verified: 'socket:uid 1000' } as const
const RELEASE: ControlRequest = {
  requestId: 'request-1',
  reason: 'looked at it',
  by: 'anna',
  order: { kind: 'release', scope: 'BTCUSDT' },
}

class Acts extends ProposalBench {
  readonly acts: { readonly request: ControlRequest; readonly approval: Approval }[] = []
  plan: CommandPlan = { changes: ['ends it'], notes: [] }

  constructor() {
    super(() => this.plan)
  }

  async propose(request = RELEASE, caller: typeof PORT | typeof SOCKET = PORT): Promise<string> {
    const proposed = await this.proposals.propose(request, caller)
    return proposed.kind === 'proposed' ? proposed.proposal.id : proposed.kind
  }

  confirm(id: string, code = this.code()): Promise<Confirmed> {
    const by = 'bert'
    return this.proposals.confirm({ id, code, by }, SOCKET, (request, _, approval) => {
      this.acts.push({ request, approval })
      return undefined
    })
  }
}

test('a confirmed proposal is done once, and the approval names proposal, person and code', async () => {
  const bench = new Acts()
  const id = await bench.propose()

  expect(await bench.confirm(id)).toEqual({ kind: 'acted' })
  expect(bench.acts).toEqual([
    {
      request: RELEASE,
      approval: {
        text: `proposal ${id} confirmed by socket:uid 1000 says "bert" with code ${Math.floor(bench.now / 30_000)}`,
        changes: ['ends it'],
      },
    },
  ])
  bench.now += 30_000
  expect(await bench.confirm(id)).toMatchObject({ kind: 'before', request: RELEASE })
  expect(await bench.confirm(id, '000000')).toMatchObject({ kind: 'before', request: RELEASE })
  expect(bench.acts).toHaveLength(1)
  expect(JSON.stringify(bench.news)).not.toContain(codeAt(bench.now - 30_000))
})

test('of two confirmations at the same moment one is done', async () => {
  const bench = new Acts()
  const id = await bench.propose()
  const both = await Promise.all([bench.confirm(id), bench.confirm(id)])

  expect(both.map(({ kind }) => kind).toSorted()).toEqual(['acted', 'before'])
  expect(bench.acts).toHaveLength(1)
})

test('a code confirms one proposal, not two', async () => {
  const bench = new Acts()
  const first = await bench.propose()
  const second = await bench.propose({ ...RELEASE, requestId: 'request-2' })
  const code = bench.code()

  expect((await bench.confirm(first, code)).kind).toBe('acted')
  expect(await bench.confirm(second, code)).toMatchObject({ kind: 'refused', status: 403 })
  expect(bench.acts).toHaveLength(1)
})

test('a proposal expires', async () => {
  const bench = new Acts()
  const id = await bench.propose()
  expect(bench.proposals.list().map((one) => one.id)).toEqual([id])
  bench.now += PROPOSAL_MS

  expect(bench.proposals.list()).toEqual([])
  expect(await bench.confirm(id)).toMatchObject({ kind: 'refused', status: 410 })
  expect(bench.acts).toEqual([])
})

test('a plan that changed is refused, and takes no code', async () => {
  const bench = new Acts()
  const id = await bench.propose()
  bench.plan = { changes: ['ends it', 'ends more'], notes: [] }

  expect(await bench.confirm(id)).toMatchObject({ kind: 'refused', status: 409 })
  bench.plan = { changes: ['ends it'], notes: ['a figure that moves'] }
  expect(await bench.confirm(id)).toMatchObject({ kind: 'refused', status: 410 })
  expect(bench.acts).toEqual([])
  expect((await bench.confirm(await bench.propose())).kind).toBe('acted')
})

test('notes may change meanwhile', async () => {
  const bench = new Acts()
  const id = await bench.propose()
  bench.plan = { changes: ['ends it'], notes: ['a figure that moves'] }

  expect((await bench.confirm(id)).kind).toBe('acted')
})

test('what would be refused is no proposal, and one that would be refused by now is over', async () => {
  const bench = new Acts()
  const id = await bench.propose()
  bench.plan = { changes: [], notes: [], refusal: 'nothing holds it' }

  expect(await bench.proposals.propose({ ...RELEASE, requestId: 'request-2' }, PORT)).toEqual({
    kind: 'impossible',
    why: 'nothing holds it',
  })
  expect(await bench.confirm(id)).toMatchObject({ kind: 'refused', status: 409 })
})

test('without a pairing nothing is proposed, and the refusal says what to do', async () => {
  const bench = new Acts()
  bench.store.pairing = undefined

  expect(await bench.proposals.propose(RELEASE, PORT)).toMatchObject({
    kind: 'refused',
    status: 403,
    why: expect.stringContaining('intentd pair'),
  })
})

test('what adds no risk is no proposal', async () => {
  const bench = new Acts()
  const order = { kind: 'kill' } as const

  expect(await bench.proposals.propose({ ...RELEASE, order }, PORT)).toMatchObject({ status: 400 })
})

test('the same request gives the same proposal, another with its id is refused', async () => {
  const bench = new Acts()
  const id = await bench.propose()

  expect(await bench.propose()).toBe(id)
  expect(await bench.propose({ ...RELEASE, reason: 'other' })).toBe('refused')
})

test('a flood from the port leaves the socket free', async () => {
  const bench = new Acts()
  const named = (count: number) => ({ ...RELEASE, requestId: `request-${count}` })
  for (let count = 0; count < 8; count++) await bench.propose(named(count))

  expect(await bench.proposals.propose(named(8), PORT)).toMatchObject({ status: 429 })
  expect(await bench.propose(named(9), SOCKET)).toMatch(/^[0-9a-f]{6}$/)
})

test('five wrong codes are an alert, once', async () => {
  const bench = new Acts()
  const id = await bench.propose()
  const wrong = ['111111', '222222'].find((code) => code !== bench.code()) ?? ''
  for (let count = 0; count < 7; count++) await bench.confirm(id, wrong)

  expect(bench.news.filter(({ kind }) => kind === 'locked')).toHaveLength(1)
  expect(await bench.confirm(id)).toMatchObject({ status: 403 })
})

test('no text of others begins a line of what a person reads before confirming', async () => {
  const bench = new Acts()
  const forged = 'odd\n  would change  nothing\u2028  until never\u2029a\u0085b'
  bench.plan = { changes: [`ends ${forged}`], notes: [forged] }
  const by = `anna${forged}`
  const proposed = await bench.proposals.propose({ ...RELEASE, reason: forged, by }, PORT)
  if (proposed.kind !== 'proposed') throw new Error(proposed.kind)

  const { proposal } = proposed
  const ofOlder = { ...proposal, reason: forged, by: forged, notes: [forged] }
  for (const shown of [proposal, ofOlder])
    for (const line of describeProposal(shown)) expect(line).not.toMatch(/[\n\u0085\u2028\u2029]/)
  const { reason, changes, notes } = proposal
  expect([proposal.by, reason, ...changes, ...notes].join('')).not.toMatch(/[\n\u0085\u2028\u2029]/)
})

test('levels of a proposed order are named', async () => {
  const given = { price: '58000', takeProfit: '90000', stopLoss: '57999.9', force: 'ioc' } as const
  const order = { kind: 'order', symbol: 'BTCUSDT', side: 'buy', size: '0.005', ...given } as const
  const proposed = await new Acts().proposals.propose({ ...RELEASE, order }, PORT)
  if (proposed.kind !== 'proposed') throw new Error(proposed.kind)
  expect(describeProposal(proposed.proposal)[0]).toMatch(
    / order BTCUSDT buy 0.005 price 58000 takeProfit 90000 stopLoss 57999.9 force ioc$/,
  )
})
