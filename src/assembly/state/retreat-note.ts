import { closeSync, existsSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { RetreatNotePort } from '../../interpreter/ports.ts'
import { messageOf } from '../../lib/failure.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

const NOTE_FILE = 'cancelled-unrecorded'

/**
 * True if an earlier run cancelled orders without a record, so resting orders in the book may be
 * gone.
 */
export function hasRetreated(directory: string): boolean {
  return existsSync(join(directory, NOTE_FILE))
}

export function forgetRetreat(directory: string): void {
  rmSync(join(directory, NOTE_FILE), { force: true })
}

export function retreatNote(directory: string, logger: Pick<DaemonLogger, 'log'>): RetreatNotePort {
  return {
    leave() {
      try {
        const descriptor = openSync(join(directory, NOTE_FILE), 'w', 0o600)
        fsyncSync(descriptor)
        closeSync(descriptor)
        return true
      } catch (error) {
        logger.log('error', 'retreat.notNoted', { reason: messageOf(error) })
        return false
      }
    },
    forget() {
      try {
        forgetRetreat(directory)
      } catch {}
    },
  }
}
