import { expect, test } from 'vitest'
import { Silence } from '../../src/cli/operator/find-daemon.ts'
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
