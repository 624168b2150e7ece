import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { findGaps } from '../../src/prices/import/gaps.ts'
import { loadRecording } from '../../src/prices/load-recording.ts'
import { PAPER } from './call-fixture.ts'

const directory = mkdtempSync(join(tmpdir(), 'intentd-download-cli-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const DAY_MS = 86_400_000

it('reads the past of the simulator into price files, and continues them', async () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const from = new Date(Date.now() - 3 * DAY_MS).toISOString().slice(0, 10)
  const words = ['download', 'BTCUSDT', '--interval', '15m', '--from', from]
  const options = ['--out', directory, '-c', PAPER]
  try {
    expect(
      await main([
        ...words,
        '--to',
        new Date(Date.now() - DAY_MS).toISOString().slice(0, 10),
        ...options,
      ]),
    ).toBe(0)
    const file = join(directory, 'BTCUSDT-futures-15m.prices')
    const before = await loadRecording(file)
    expect(await main([...words, ...options])).toBe(0)
    const { rows, funding, intervalMs } = await loadRecording(file)

    expect(rows.at[0]).toBe(Date.parse(from))
    expect(before.rows.at.length).toBe(2 * 96)
    expect(rows.at.slice(0, 2 * 96)).toEqual(before.rows.at)
    expect(rows.at.length).toBeGreaterThanOrEqual(3 * 96)
    expect(findGaps(rows.at, intervalMs).count).toBe(0)
    expect(funding?.at.length).toBeGreaterThanOrEqual(9)
  } finally {
    write.mockRestore()
  }
})
