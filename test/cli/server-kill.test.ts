import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import {
  adviseServerRelease,
  describeServerKill,
  type KilledAccount,
} from '../../src/cli/operator/server-kill.ts'

const HERE = '/srv/state'
const holderAt = (host: string, directory: string) => `intentd main on ${host}, pid 7, ${directory}`

function killed(
  state: KilledAccount['kill']['state'],
  more: Partial<Pick<KilledAccount, 'state' | 'holder' | 'standbys'>>,
): KilledAccount {
  return {
    schema: 'intentd_main',
    state: 'ended',
    holder: holderAt('other', HERE),
    takenAt: 0,
    leaseLeftMs: 0,
    freeInMs: 0,
    isHandoverAsked: false,
    lastSequence: 1,
    standbys: [],
    shown: undefined,
    kill: {
      number: 1,
      state,
      reason: 'drill',
      by: 'anna',
      orderedAt: 0,
      answeredBy: state === 'asked' ? '' : 'machine a',
      answeredAt: undefined,
    },
    ...more,
  }
}

const standby = (holder: string, isFollowing: boolean) => ({
  holder,
  behind: 0,
  seenAgoMs: 0,
  isFollowing,
  differs: '',
})

test.each([
  ['asked', /by anna at 1970-01-01 00:00:00 UTC \(drill\), and no daemon has obeyed it yet$/],
  ['seen', /; machine a obeys it, and has not proved yet that nothing rests$/],
  ['clean', /; machine a has proved that nothing rests$/],
] as const)('[RSK3] a kill on the server that is %s is described', (state, words) => {
  expect(describeServerKill(killed(state, {}))).toMatch(words)
})

test.each([
  [
    'a writer elsewhere',
    'clean',
    { state: 'writes' },
    'on other, `intentd release --state /srv/state',
  ],
  [
    'a writer of another directory on this machine',
    'seen',
    { state: 'writes', holder: holderAt(hostname(), '/srv/state2') },
    `on ${hostname()}, \`intentd release --state /srv/state2`,
  ],
  [
    'a standby',
    'clean',
    { standbys: [standby(holderAt('next', '/b'), true)] },
    'on next, `intentd release',
  ],
  ['an order that nobody obeyed', 'asked', {}, 'whoever trades the account next obeys it'],
  [
    'a kill whose writer died before its proof',
    'seen',
    {},
    'whoever trades the account next obeys it',
  ],
] as const)('[RSK3] a release is sent away from here by %s', (_, state, more, words) => {
  expect(adviseServerRelease(killed(state, more), HERE)).toContain(words)
})

test.each([
  ['nobody writes the account', {}],
  ['a standby has gone', { standbys: [standby(holderAt('next', '/b'), false)] }],
  ['its writer died here', { state: 'writes', holder: holderAt(hostname(), `${HERE}/world`) }],
] as const)('[RSK3] a release of a proved kill may wait here where %s', (_, more) => {
  expect(adviseServerRelease(killed('clean', more), HERE)).toBeUndefined()
})
