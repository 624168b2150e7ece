import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listPortProblems } from '../../src/cli/run/accept-reload.ts'
import { type DaemonConfig } from '../../src/config/load-config.ts'

let other: Server
let taken: number

beforeEach(async () => {
  other = createServer().listen({ host: '127.0.0.1', port: 0 })
  await once(other, 'listening')
  taken = (other.address() as AddressInfo).port
})

afterEach(() => void other.close())

function at(port: number | undefined): Pick<DaemonConfig, 'control'> {
  return {
    control: {
      host: '127.0.0.1',
      port,
      readOnly: false,
      agents: { research: false, safer: false },
    },
  }
}

test('a reload to a port that another process has is refused, with the address', async () => {
  expect(await listPortProblems([{ config: at(taken) }], [at(0)])).toEqual([
    expect.stringMatching(
      new RegExp(`^control\\.port: nothing can listen at 127\\.0\\.0\\.1:${taken}: .*EADDRINUSE`),
    ),
  ])
})

test('its own port, any free one and none are no trouble', async () => {
  const next = [at(taken), at(0), at(undefined)].map((config) => ({ config }))
  expect(await listPortProblems(next, [at(taken)])).toEqual([])
  other.close()
  await once(other, 'close')
  expect(await listPortProblems([{ config: at(taken) }], [at(0)])).toEqual([])
})
