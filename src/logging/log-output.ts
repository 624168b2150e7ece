import { fstatSync } from 'node:fs'
import { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { systemTimers } from '../lib/timers.ts'

/** Text that waits for whoever reads it, characters. What comes on top is left out: trading goes on. */
const WAITING_MAX = 1_000_000
/** How long the end of the process waits for a reader, ms. */
const END_MS = 1000

/** Whether somebody must read what is written there before more can be: a terminal or another program. */
export function hasReader(descriptor: 1 | 2): boolean {
  const place = fstatSync(descriptor)
  return isatty(descriptor) || place.isFIFO() || place.isSocket()
}

/**
 * Each line is written at once where there is room, so the last line before an end is there;
 * nothing waits for a reader that has stopped reading.
 */
export class LogOutput {
  readonly #stream: NodeJS.WriteStream
  readonly #onMissing: (lines: number) => void
  #missing = 0
  /** Its reader has gone (`| head`), or its terminal was closed: nothing can be written any more. */
  #isGone = false

  /** @param onMissing Is told once it is read again how many lines were left out. */
  constructor(descriptor: 1 | 2, onMissing: (lines: number) => void) {
    this.#stream = descriptor === 1 ? process.stdout : process.stderr
    this.#onMissing = onMissing
    // Node makes a terminal wait (Ctrl-S), and has no public function against it.
    const { _handle: handle } = this.#stream as {
      _handle?: { setBlocking?: (isBlocking: boolean) => void }
    }
    handle?.setBlocking?.(false)
    this.#stream.on('drain', () => this.#sayMissing())
    this.#stream.on('error', () => {
      this.#isGone = true
    })
  }

  write(text: string): void {
    if (this.#isGone) return
    if (this.#stream.writableLength < WAITING_MAX) this.#stream.write(text)
    else this.#missing += 1
  }

  /** The same, for what writes to a stream. */
  asStream(): Writable {
    return new Writable({
      decodeStrings: false,
      write: (text: string | Buffer, _encoding, done) => {
        this.write(String(text))
        done()
      },
    })
  }

  #sayMissing(): void {
    const missing = this.#missing
    this.#missing = 0
    if (missing > 0) this.#onMissing(missing)
  }
}

const unread = new Set<NodeJS.WriteStream>()

/** Whether the end of the process has waited for its reader already, and in vain. */
export function isUnread(stream: NodeJS.WriteStream): boolean {
  return unread.has(stream)
}

/** Before the process ends, for both outputs: what waits is written, unless nobody reads it for a second. */
export async function endOutputs(): Promise<void> {
  await Promise.all([process.stdout, process.stderr].map(endOutput))
}

async function endOutput(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.writableLength === 0) return
  await new Promise<void>((resolve) => {
    const cancel = systemTimers.after(END_MS, () => {
      unread.add(stream)
      resolve()
    })
    stream.write('', () => {
      cancel()
      resolve()
    })
  })
}
