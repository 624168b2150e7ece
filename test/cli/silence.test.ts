import { expect, test } from 'vitest'
import { explainNoSocket, Silence } from '../../src/cli/operator/find-daemon.ts'
import { type ControlReply } from '../../src/control/control-client.ts'

const SILENT: ControlReply = { kind: 'silent', reason: 'Headers Timeout Error' }
const GONE: ControlReply = { kind: 'silent', reason: 'connect ENOENT' }
const ANSWER: ControlReply = { kind: 'answered', status: 200, body: {} }

test('a process that says nothing is waited for once, however many accounts it has', async () => {
  const silence = new Silence()
  const asked: string[] = []
  const ask = (
    pid: number | undefined,
    account: string,
    reply: ControlReply,
  ): Promise<ControlReply> =>
    silence.ask(pid, () => {
      asked.push(account)
      return Promise.resolve(reply)
    })

  expect(await ask(1, 'alice', SILENT)).toBe(SILENT)
  expect(await ask(1, 'bob', ANSWER)).toBe(SILENT)
  expect(await ask(2, 'cara', GONE)).toBe(GONE)
  expect(await ask(2, 'dave', ANSWER)).toBe(ANSWER)
  await ask(undefined, 'erin', SILENT)
  await ask(undefined, 'finn', SILENT)
  expect(asked).toEqual(['alice', 'cara', 'dave', 'erin', 'finn'])
})

test('a daemon without a socket either starts, or has lost it', () => {
  const holder = { pid: 7, since: 1000 }
  const explained = (last: Parameters<typeof explainNoSocket>[1]): string =>
    explainNoSocket(holder, last).join(' ')
  const starts = /^it starts: process 7 has no control\.sock yet/

  expect(explained(undefined)).toMatch(starts)
  expect(explained({ pid: 6, beganAt: 2000 })).toMatch(starts)
  // A process of an earlier boot had the same number.
  expect(explained({ pid: 7, beganAt: 500 })).toMatch(starts)
  expect(explained({ pid: 7, beganAt: 2000, endedAt: 3000 })).toMatch(/^process 7 has ended/)
  expect(explained({ pid: 7, beganAt: 2000 })).toMatch(
    /^its control\.sock is gone: process 7 began at .* may trade all the same/,
  )
  expect(explainNoSocket(undefined, undefined)).toEqual(['it has ended meanwhile: ask again'])
})
