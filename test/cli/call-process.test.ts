import { afterAll, expect, test } from 'vitest'
import { Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

test.concurrent('a newcomer reads the tickers without keys, and the process ends by itself', async () => {
  const run = projects.open().start(['call', 'tickers', '--product-type', 'USDT-FUTURES', '--json'])
  const { code } = await run.ended

  const rows = JSON.parse(run.stdout.join('\n')) as { symbol: string }[]
  expect(code).toBe(0)
  expect(rows.map(({ symbol }) => symbol)).toEqual(expect.arrayContaining(['BTCUSDT', 'ETHUSDT']))
  expect(run.stderr).toEqual([])
})

test.concurrent('a broken rule ends with 64 and goes to standard error', async () => {
  const run = projects.open().start(['call', 'tickers', '--product-type', 'USDT-FUTURE'])
  const { code } = await run.ended

  expect(code).toBe(64)
  expect(run.stdout).toEqual([])
  expect(run.stderr.join('\n')).toContain('did you mean USDT-FUTURES?')
})

test.concurrent('a withdrawal that was not consented to ends with 64', async () => {
  const words =
    '--coin USDT --transfer-type on_chain --chain erc20 --size 12.5 --address 0xaa'.split(' ')
  const run = projects.open().start(['call', 'spotWithdrawal', ...words])
  const { code } = await run.ended

  expect(code).toBe(64)
  expect(run.stderr.join('\n')).toContain('add --yes=12.5USDT')
})
