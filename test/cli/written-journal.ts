import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { vi } from 'vitest'
import { main } from '../../src/cli/main.ts'
import type { Booking } from '../../src/journal/booking.ts'
import type { OpenedJournal } from '../../src/journal/journal.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { MAIN, Workspace } from '../config/workspace.ts'

const BOOT = {
  kind: 'boot',
  at: 1,
  exchangeAt: 1,
  epoch: 1,
  version: '0',
  strategies: [],
  grids: { BTCUSDT: { tick: '0.1', lot: '0.001' }, ETHUSDT: { tick: '0.01', lot: '0.01' } },
  positionMode: 'one_way_mode',
} as never

/** A workspace with a journal that a test writes and a command reads. */
export class WrittenJournal {
  readonly workspace = new Workspace()
  readonly file: string

  /** @param zone `calendar.timezone` */
  constructor(zone: string) {
    this.workspace.fill({ 'config/main.yaml': `${MAIN}calendar:\n  timezone: ${zone}\n` })
    const directory = join(this.workspace.directory, '.intentd/paper')
    mkdirSync(directory, { recursive: true })
    this.file = join(directory, 'journal.sqlite')
  }

  open(): OpenedJournal {
    return openSqliteJournal({
      file: this.file,
      identity: 'paper',
      salt: 'salt',
      keepSince: () => 0,
    })
  }

  /** Begins it with the record of a start. */
  begin(bookings: readonly Booking[] = []): OpenedJournal {
    const journal = this.open()
    journal.append(BOOT, bookings)
    return journal
  }

  /** Runs a command in this process, with all that it prints. */
  async run(
    ...words: readonly string[]
  ): Promise<{ readonly code: number; readonly out: string; readonly aside: string }> {
    const printed = { out: '', aside: '' }
    for (const [stream, name] of [
      [process.stdout, 'out'],
      [process.stderr, 'aside'],
    ] as const)
      vi.spyOn(stream, 'write').mockImplementation((text) => {
        printed[name] += String(text)
        return true
      })
    const config = join(this.workspace.directory, 'config/main.yaml')
    const code = await main([...words, '-c', config])
    vi.restoreAllMocks()
    return { code, ...printed }
  }

  remove(): void {
    vi.restoreAllMocks()
    this.workspace.remove()
  }
}
